-- The store's schema as numbered steps; a step that was released is never changed (`tests/guards/test_migrations.py`).
-- A line that begins with two hyphens is a remark and no part of a step.

-- step m001_texts_and_corpora
-- Each text once, whatever refers to it; corpora as read from their files.
--
-- Columns that hold the id of a text do not say so to SQLite, which would search every table for each
-- text that is erased; ``texts.sweep_texts`` erases only what none of them holds.
        CREATE TABLE texts (
            id INTEGER PRIMARY KEY,
            digest INTEGER NOT NULL,   -- 4 bytes of BLAKE2b, to find equal texts
            body TEXT NOT NULL
        );
        CREATE INDEX texts_digest ON texts (digest);
        CREATE TABLE corpora (
            id INTEGER PRIMARY KEY,
            sha256 TEXT NOT NULL,
            partial INTEGER NOT NULL,  -- 1: known only through an imported run card
            dataset TEXT NOT NULL      -- JSON envelope
        );
        CREATE INDEX corpora_sha256 ON corpora (sha256);
        CREATE TABLE entries (
            corpus INTEGER NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            entry_id,                  -- integer or text, as the corpus has it
            source INTEGER NOT NULL,
            reference INTEGER NOT NULL,
            segment TEXT,
            difficulty INTEGER,
            provenance TEXT,
            register TEXT,
            rest TEXT,                 -- JSON of all other fields, NULL where there are none
            PRIMARY KEY (corpus, position)
        ) WITHOUT ROWID;
-- step m002_runs
-- Runs, their entry rows, and the columns and indexes of scoring-specification §9.1.
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            corpus INTEGER NOT NULL REFERENCES corpora (id),
            state TEXT NOT NULL,
            created REAL NOT NULL,
            positions BLOB NOT NULL,   -- zlib of little-endian uint32: which entries, in order
            setup TEXT NOT NULL,
            setup_hash TEXT NOT NULL,
            plan TEXT NOT NULL,        -- JSON: what resume needs to go on
            opening TEXT NOT NULL,     -- JSON: floors, missing metrics, budget
            live TEXT,                 -- JSON heartbeat while the run is under way
            harness_version TEXT NOT NULL,
            run_card TEXT,             -- JSON of the sealed card without results[], which the rows hold
            imported BLOB,             -- zlib of the card's own bytes where it came from elsewhere
            composite_score REAL,
            quality_tier TEXT,
            chrf_plus_plus REAL,
            exact_match_rate REAL,
            fst_acceptance_rate REAL,
            corpus_bleu REAL,
            comet_score REAL,
            total_cost_usd REAL,
            cost_per_1k_tokens REAL,
            avg_latency_seconds REAL,
            model_slug TEXT NOT NULL,
            condition TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            language_pair TEXT NOT NULL,
            fingerprint_hash TEXT NOT NULL
        );
        CREATE INDEX idx_composite ON runs (composite_score);
        CREATE INDEX idx_leaderboard ON runs (dataset_id, chrf_plus_plus);
        CREATE INDEX idx_model ON runs (model_slug);
        CREATE INDEX idx_fingerprint ON runs (fingerprint_hash);
        CREATE TABLE stretches (       -- when the run was under way; their sum is its duration
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            started REAL NOT NULL,
            last REAL NOT NULL,
            spent_usd REAL NOT NULL DEFAULT 0  -- paid meanwhile: a budget holds over cuts
        );
        CREATE TABLE results (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            output INTEGER,
            statistics BLOB NOT NULL,
            chrf REAL,
            exact INTEGER NOT NULL,
            composite REAL,
            error_class TEXT,
            error TEXT,
            latency_seconds REAL,
            cached INTEGER NOT NULL,
            batch_size INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            prompt_tokens INTEGER,
            completion_tokens INTEGER,
            reasoning_tokens INTEGER,
            cached_tokens INTEGER,
            cost_usd REAL,
            spent_usd REAL,
            finished_at REAL NOT NULL,
            trace BLOB,                -- msgpack of the attempts, NULL where nothing was called
            equivalent INTEGER
        );
        CREATE UNIQUE INDEX results_run_position ON results (run, position);
-- step m003_replies
-- What was asked and answered, for the entry screen and as the response cache.
        CREATE TABLE replies (
            key BLOB PRIMARY KEY,      -- 16 bytes of BLAKE2b over all that decides the answer, or random
            head INTEGER NOT NULL,     -- JSON of the request without its last message
            tail INTEGER,              -- the last message
            body INTEGER NOT NULL,     -- the reply's text
            facts BLOB NOT NULL,       -- msgpack: usage, model, finish reason, costs, tool calls
            latency_seconds REAL NOT NULL,
            created REAL NOT NULL
        ) WITHOUT ROWID;
-- step m004_findings
-- What annotators found, for later runs; and a method's first answer where its own gates changed it.
        CREATE TABLE makers (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE  -- identifies all that a finding depends on besides its key
        );
        CREATE TABLE findings (
            maker INTEGER NOT NULL REFERENCES makers (id) ON DELETE CASCADE,
            key TEXT NOT NULL,         -- a word, or the hash of the texts
            value BLOB NOT NULL,       -- msgpack
            PRIMARY KEY (maker, key)
        ) WITHOUT ROWID;
        ALTER TABLE results ADD COLUMN raw INTEGER;  -- text id, NULL where the output is as it came
-- step m005_certificates
-- Verdicts of reviewers, beside the sealed card that they name and gone with its run (DESIGN C4).
        CREATE TABLE certificates (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            sha256 TEXT NOT NULL,
            certificate BLOB NOT NULL, -- its own bytes, over which it is signed
            signature BLOB NOT NULL,
            signer TEXT NOT NULL,      -- public key that a person trusted when attaching it
            attached REAL NOT NULL,
            suspended INTEGER NOT NULL DEFAULT 0, -- 1: somebody took back what it rests on
            PRIMARY KEY (run, sha256)
        ) WITHOUT ROWID;
-- step m006_notes_and_deletion
-- A person's words beside a run; runs put away until their deletion can no longer be undone.
        CREATE TABLE notes (
            run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            words TEXT NOT NULL
        );
        CREATE TABLE tags (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            tag TEXT NOT NULL,
            PRIMARY KEY (run, tag)
        ) WITHOUT ROWID;
        ALTER TABLE runs ADD COLUMN put_away REAL;  -- Unix time of its deletion, NULL where it is not deleted
        CREATE INDEX results_failed ON results (run) WHERE error_class IS NOT NULL;
-- step m007_secret_texts
-- Keyed digests of secret sources, by which they are known when they come back; gone with their corpus.
        CREATE TABLE secret_texts (
            corpus INTEGER NOT NULL REFERENCES corpora (id) ON DELETE CASCADE,
            digest BLOB NOT NULL,      -- 16 bytes of keyed BLAKE2b over the normalised source
            key_id BLOB NOT NULL,      -- 8 bytes that name the key, which lies beside the store
            PRIMARY KEY (corpus, digest)
        ) WITHOUT ROWID;
-- step m008_row_words
-- What an analyser said of each output and its lint verdict; none of secret entries.
        CREATE TABLE row_words (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            analyses BLOB,             -- msgpack: list of analysis strings, NULL without an analyser
            lint TEXT,                 -- EXACT, EQUIVALENT, MISS or NO_OUTPUT
            PRIMARY KEY (run, position)
        ) WITHOUT ROWID;
-- step m009_steering
-- Wishes for a run under way from other processes, with what came of each; erased once it is read.
        CREATE TABLE steering (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            asked REAL NOT NULL,       -- Unix time
            wish TEXT NOT NULL,        -- pause, go_on, drain, stop or limit
            calls INTEGER,             -- of limit: calls at once
            answer TEXT                -- what came of it, in words; NULL until the run's process took it
        );
        CREATE INDEX steering_open ON steering (run) WHERE answer IS NULL;
-- step m010_sort_values
-- What rows are sorted by gets its place for a name: the task of a run says which metrics they are.
--
-- Of translations they are chrF++, composite and equivalent match, as before; no row is written.
        ALTER TABLE results RENAME COLUMN chrf TO headline;
        ALTER TABLE results RENAME COLUMN composite TO second;
        ALTER TABLE results RENAME COLUMN equivalent TO third;
-- step m011_annotations
-- What endpoints answered about outputs, and replies that a scoring asked for before its run was stored.
        CREATE TABLE annotations (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            position INTEGER,          -- NULL: a call about several outputs together
            annotator TEXT NOT NULL,
            maker BLOB NOT NULL,       -- 16 bytes of BLAKE2b over all that an answer depends on
            value BLOB,                -- msgpack; NULL where no answer came, or none of its own
            calls INTEGER NOT NULL,
            cost_usd REAL,             -- NULL: unknown
            spent_usd REAL NOT NULL,
            trace BLOB                 -- msgpack of the attempts
        );
        CREATE UNIQUE INDEX annotations_of_outputs ON annotations (run, annotator, position);
        CREATE TABLE asked_about (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            reply BLOB NOT NULL,       -- its key
            PRIMARY KEY (run, reply)
        ) WITHOUT ROWID;
-- step m012_card_seals
-- Signatures beside the sealed card that they name, gone with its run; no card is changed (DESIGN C4).
        CREATE TABLE card_seals (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            signer TEXT NOT NULL,      -- public key, hexadecimal
            file BLOB NOT NULL,        -- the seal with what the salts of the rows are made from
            PRIMARY KEY (run, signer)
        ) WITHOUT ROWID;
-- step m013_sealed_texts
-- What belongs to secret entries lies sealed, each corpus under a key of its own; gone with the corpus.
--
-- What was stored before is sealed by ``harness.store.file.take_over``, which comes after.
        CREATE TABLE corpus_keys (
            corpus INTEGER PRIMARY KEY REFERENCES corpora (id) ON DELETE CASCADE,
            place TEXT NOT NULL,       -- random id that sealed values of the corpus are bound to
            sealed BLOB NOT NULL       -- its data key, sealed by age for those who may open it
        );
        ALTER TABLE entries ADD COLUMN sealed BLOB;      -- all fields but the id; NULL where the entry is open
        ALTER TABLE results ADD COLUMN sealed BLOB;      -- output, first answer, words of errors
        ALTER TABLE annotations ADD COLUMN sealed BLOB;  -- value, words of errors
-- step m014_sweeps
-- Sweeps: their plans, which run each of their cells is, and the money that their runs share.
        CREATE TABLE sweeps (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,  -- SHA-256 over the keys of its cells
            name TEXT NOT NULL,
            created REAL NOT NULL,     -- Unix time
            plan TEXT NOT NULL,        -- JSON, with absolute paths
            file TEXT NOT NULL,        -- where the plan was read from
            budget_usd REAL,
            workers INTEGER NOT NULL,
            stopping INTEGER NOT NULL DEFAULT 0  -- 1: its workers end after the entries under way
        );
        CREATE TABLE sweep_cells (
            sweep INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
            place INTEGER NOT NULL,    -- from 0, in the order of the plan
            name TEXT NOT NULL,
            labels TEXT NOT NULL,      -- JSON: axis and label
            replicate INTEGER NOT NULL,
            setup_hash TEXT NOT NULL,
            entries INTEGER NOT NULL,  -- how many its run has
            run_id TEXT NOT NULL,      -- given before the run begins, so that a kill leaves no stray one
            reused INTEGER NOT NULL DEFAULT 0,   -- 1: the store had the run already
            trouble TEXT,              -- why it stopped by itself, NULL where it did not
            PRIMARY KEY (sweep, place)
        ) WITHOUT ROWID;
        CREATE TABLE sweep_money (
            sweep INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
            run_id TEXT NOT NULL,      -- a run that was deleted still counts
            held_usd REAL NOT NULL,    -- the most that it may have spent, earlier stretches included
            busy INTEGER NOT NULL,     -- 1: some of it may come back while its process lives
            PRIMARY KEY (run_id)
        ) WITHOUT ROWID;
-- step m015_others_cards
-- What was found here of cards that others made: scored again, run again; beside the card and gone with its run.
        CREATE TABLE reproductions (
            run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            signer TEXT NOT NULL,      -- public key that a person trusted when attaching it, hexadecimal
            card TEXT NOT NULL,        -- hash of the card that was run again
            file BLOB NOT NULL,        -- the signed record
            PRIMARY KEY (run, signer)
        ) WITHOUT ROWID;
        CREATE TABLE recounts (
            run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            pinned INTEGER NOT NULL,   -- 1: sources and references were held against the corpus file
            differences TEXT NOT NULL  -- JSON list of words; empty: its scores are those of its outputs
        );
-- step m016_races
-- Which runs of a sweep were raced out, and by what.
        ALTER TABLE sweep_cells ADD COLUMN raced_out TEXT;  -- JSON, NULL where it was not
-- step m017_signed_records
-- What people signed about a method after its verdict: who owns it, where it is used, what an organisation states.
        CREATE TABLE signed_records (
            id TEXT PRIMARY KEY,       -- SHA-256 of what was agreed on or stated
            kind TEXT NOT NULL,        -- ownership, use or statement
            run_id TEXT NOT NULL,      -- of the run that it is about, empty where it is about none; it need not be here
            card TEXT NOT NULL,        -- hash of the run's card, empty likewise
            told TEXT NOT NULL,        -- JSON: what lists show of it, as its reader found it
            file BLOB NOT NULL         -- the signed file
        ) WITHOUT ROWID;
        CREATE INDEX signed_records_of_runs ON signed_records (run_id);
-- step m018_run_scores
-- Columns of scoring-specification §9.1 and of every metric, in a narrow table: read without the cards, which come last in theirs.
--
-- ``harness.store.file.schema`` fills it, of older runs at the end of the upgrade. A later step that adds a column
-- deletes the rows, so that they are filled again.
        CREATE TABLE run_scores (
            run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            composite_score REAL, quality_tier TEXT, chrf_plus_plus REAL, exact_match_rate REAL,
            fst_acceptance_rate REAL, corpus_bleu REAL, comet_score REAL, total_cost_usd REAL,
            cost_per_1k_tokens REAL, avg_latency_seconds REAL, model_slug TEXT, condition TEXT, dataset_id TEXT,
            language_pair TEXT, fingerprint_hash TEXT, equivalent_match_rate REAL, ter REAL, length_ratio REAL,
            morphological_accuracy REAL, orthographic_accuracy REAL, semantic_score REAL,
            code_switching_rate REAL, hallucination_rate REAL, terminology_adherence REAL,
            consistency_score REAL, compliance_index REAL, repair_effectiveness REAL, lbrag_em REAL,
            lbrag_f1 REAL, lbrag_rlc REAL, lbrag_rlc_ok REAL, lbrag_cost REAL, lbrag_cnbe REAL,
            lbrag_semantic_score REAL, au_wer REAL, au_wder REAL, au_cpwer REAL, au_speaker_count_error REAL,
            au_multiple_choice_accuracy REAL, au_gsm8k_exact_match REAL, au_joint_goal_accuracy REAL,
            au_slot_accuracy REAL, au_slot_f1 REAL, au_bfcl_match_score REAL, au_instruction_following REAL,
            au_text2sql_score REAL, au_sql_set_match REAL, au_bleu REAL, au_meteor REAL, au_bertscore REAL,
            au_comet REAL, au_llm_judge_binary REAL, au_llm_judge_detailed REAL,
            au_llm_judge_big_bench_audio REAL, au_llm_judge_redteaming REAL, au_mt_bench_llm_judge REAL,
            nest_length REAL, nest_richness REAL, nest_coverage REAL, nest_structure REAL, nest_clarity REAL,
            nest_overall REAL, nest_reading_time REAL
        );
        CREATE TABLE runs_rewritten (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            corpus INTEGER NOT NULL REFERENCES corpora (id),
            state TEXT NOT NULL,
            created REAL NOT NULL,
            put_away REAL,             -- Unix time of its deletion, NULL where it is not deleted
            harness_version TEXT NOT NULL,
            model_slug TEXT NOT NULL,
            condition TEXT NOT NULL,
            dataset_id TEXT NOT NULL,
            language_pair TEXT NOT NULL,
            fingerprint_hash TEXT NOT NULL,
            setup_hash TEXT NOT NULL,
            live TEXT,                 -- JSON heartbeat while the run is under way
            opening TEXT NOT NULL,     -- JSON: floors, missing metrics, budget
            plan TEXT NOT NULL,        -- JSON: what resume needs
            setup TEXT NOT NULL,
            positions BLOB NOT NULL,   -- zlib of little-endian uint32: which entries, in order
            run_card TEXT,             -- JSON of the sealed card without results[], which the rows hold
            imported BLOB              -- zlib of the card's own bytes where it came from elsewhere
        );
        INSERT INTO runs_rewritten SELECT
            id, run_id, corpus, state, created, put_away, harness_version, model_slug, condition, dataset_id,
            language_pair, fingerprint_hash, setup_hash, live, opening, plan, setup, positions, run_card, imported
        FROM runs;
        DROP TABLE runs;
        ALTER TABLE runs_rewritten RENAME TO runs;
        CREATE INDEX idx_composite ON run_scores (composite_score);
        CREATE INDEX idx_leaderboard ON run_scores (dataset_id, chrf_plus_plus);
        CREATE INDEX idx_model ON runs (model_slug);
        CREATE INDEX idx_fingerprint ON runs (fingerprint_hash);
-- step m019_run_lines
-- What lists show of finished runs, so that they read no cards.
--
-- A copy in words of what the card says: each version of the program makes its own (``harness.store.run_list``).
        CREATE TABLE run_lines (
            run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            made_by TEXT NOT NULL,     -- version of what made the line
            line TEXT NOT NULL         -- JSON
        );
-- step m020_run_summaries
-- What lists show of finished runs, in parts of which each list reads its own: no list reads the cards.
        DROP TABLE run_lines;
        CREATE TABLE run_summaries (
            run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            made_by TEXT NOT NULL,     -- version of what made it
            line TEXT NOT NULL,        -- JSON: what a line of a table shows
            summary TEXT NOT NULL,     -- JSON: what `runs list --json` has of the card
            card TEXT NOT NULL         -- JSON of the card without breakdowns, for leaderboards
        );
