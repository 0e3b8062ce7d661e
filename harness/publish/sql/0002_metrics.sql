-- A column for every metric that is implemented (scoring-specification §9.1), those of packs as pack_metric.
-- A later step that adds one adds it here and to the function below, and fills the rows as this one does.

ALTER TABLE run_cards
    ADD COLUMN equivalent_match_rate real, ADD COLUMN ter real, ADD COLUMN length_ratio real,
    ADD COLUMN morphological_accuracy real, ADD COLUMN orthographic_accuracy real, ADD COLUMN semantic_score real,
    ADD COLUMN code_switching_rate real, ADD COLUMN hallucination_rate real, ADD COLUMN terminology_adherence real,
    ADD COLUMN consistency_score real, ADD COLUMN compliance_index real, ADD COLUMN repair_effectiveness real,
    ADD COLUMN lbrag_em real, ADD COLUMN lbrag_f1 real, ADD COLUMN lbrag_rlc real, ADD COLUMN lbrag_rlc_ok real,
    ADD COLUMN lbrag_cost real, ADD COLUMN lbrag_cnbe real, ADD COLUMN lbrag_semantic_score real,
    ADD COLUMN au_wer real, ADD COLUMN au_wder real, ADD COLUMN au_cpwer real, ADD COLUMN au_speaker_count_error real,
    ADD COLUMN au_multiple_choice_accuracy real, ADD COLUMN au_gsm8k_exact_match real,
    ADD COLUMN au_joint_goal_accuracy real, ADD COLUMN au_slot_accuracy real, ADD COLUMN au_slot_f1 real,
    ADD COLUMN au_bfcl_match_score real, ADD COLUMN au_instruction_following real, ADD COLUMN au_text2sql_score real,
    ADD COLUMN au_sql_set_match real, ADD COLUMN au_bleu real, ADD COLUMN au_meteor real,
    ADD COLUMN au_bertscore real, ADD COLUMN au_comet real, ADD COLUMN au_llm_judge_binary real,
    ADD COLUMN au_llm_judge_detailed real, ADD COLUMN au_llm_judge_big_bench_audio real,
    ADD COLUMN au_llm_judge_redteaming real, ADD COLUMN au_mt_bench_llm_judge real, ADD COLUMN nest_length real,
    ADD COLUMN nest_richness real, ADD COLUMN nest_coverage real, ADD COLUMN nest_structure real,
    ADD COLUMN nest_clarity real, ADD COLUMN nest_overall real, ADD COLUMN nest_reading_time real;

ALTER FUNCTION rosetta_filled(run_cards) RENAME TO rosetta_filled_first;  -- the columns of step 1

CREATE FUNCTION rosetta_filled(row_of run_cards) RETURNS run_cards
LANGUAGE plpgsql IMMUTABLE SET search_path = public, pg_temp AS $$
-- a row with every column that follows from the bytes of its card
DECLARE
    metrics CONSTANT text[] := ARRAY[
        'equivalent_match_rate', 'ter', 'length_ratio', 'morphological_accuracy', 'orthographic_accuracy',
        'semantic_score', 'code_switching_rate', 'hallucination_rate', 'terminology_adherence', 'consistency_score',
        'compliance_index', 'repair_effectiveness', 'lbrag.em', 'lbrag.f1', 'lbrag.rlc', 'lbrag.rlc_ok', 'lbrag.cost',
        'lbrag.cnbe', 'lbrag.semantic_score', 'au.wer', 'au.wder', 'au.cpwer', 'au.speaker_count_error',
        'au.multiple_choice_accuracy', 'au.gsm8k_exact_match', 'au.joint_goal_accuracy', 'au.slot_accuracy',
        'au.slot_f1', 'au.bfcl_match_score', 'au.instruction_following', 'au.text2sql_score', 'au.sql_set_match',
        'au.bleu', 'au.meteor', 'au.bertscore', 'au.comet', 'au.llm_judge_binary', 'au.llm_judge_detailed',
        'au.llm_judge_big_bench_audio', 'au.llm_judge_redteaming', 'au.mt_bench_llm_judge', 'nest.length',
        'nest.richness', 'nest.coverage', 'nest.structure', 'nest.clarity', 'nest.overall', 'nest.reading_time'
    ];
    scores jsonb;
    released boolean;
BEGIN
    row_of := rosetta_filled_first(row_of);
    scores := row_of.run_card -> 'scores';
    released := row_of.form = 'released';
    RETURN jsonb_populate_record(row_of, (
        SELECT jsonb_object_agg(
            replace(id, '.', '_'),
            rosetta_real(CASE WHEN released THEN scores #> ARRAY[id, 'value'] ELSE scores -> id END)
        ) FROM unnest(metrics) AS id
    ));
END
$$;

CREATE OR REPLACE FUNCTION rosetta_fill_run_card() RETURNS trigger  -- as it was: sessions that are open look the other up again
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.published_at := now();
    END IF;
    RETURN rosetta_filled(NEW);
END
$$;

-- The trigger fills the new columns. A row that was changed past the rules of the tables stays as it is, and is told.
UPDATE run_cards SET card_hash = card_hash WHERE run_cards IS NOT DISTINCT FROM rosetta_filled_first(run_cards);
