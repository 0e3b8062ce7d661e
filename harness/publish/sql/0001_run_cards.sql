-- Run cards as they were published, with the columns of scoring-specification §9.1.
-- A card comes in as its bytes alone: everything else is worked out here, so no column can say other than the card.
-- Bodies with RETURN are bound when they are made, so nobody who publishes can slip other functions in (PostgreSQL 14).

CREATE FUNCTION rosetta_card_json(card text) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    -- jsonb has no U+0000: its picture (U+2400) stands there; an escaped backslash before it is no part of it
    RETURN CASE
        WHEN strpos(card, '\u0000') = 0 THEN card
        ELSE regexp_replace(card, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u2400', 'g')
    END::jsonb;

CREATE FUNCTION rosetta_real(value jsonb) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- null for what is no number, or is one that a real cannot hold
    RETURN CASE
        WHEN jsonb_typeof(value) <> 'number' THEN NULL
        WHEN abs(value::numeric) > 3.4e38 THEN NULL
        WHEN abs(value::numeric) < 1.2e-38 THEN 0::real
        ELSE value::real
    END;

CREATE FUNCTION rosetta_text(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- cut, for an index takes no longer ones; null for what is no text
    RETURN CASE WHEN jsonb_typeof(value) = 'string' THEN left(value #>> '{}', 500) END;

CREATE FUNCTION rosetta_submitter() RETURNS text
LANGUAGE sql STABLE
    -- who publishes: the role; behind Supabase's interface, where all share one, the person
    RETURN CASE
        WHEN current_user = 'authenticated'
        THEN 'user ' || (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
        ELSE current_user::text
    END;

CREATE TABLE run_cards (
    card_hash text PRIMARY KEY,                 -- its seal where that holds here, else SHA-256 of card_bytes
    card_bytes bytea NOT NULL                   -- the card itself, as it was sealed or signed; outgoing.py has the same limit
        CHECK (octet_length(card_bytes) <= 134217728),
    run_card jsonb NOT NULL CHECK (jsonb_typeof(run_card) = 'object'),  -- the same for queries
    form text NOT NULL,                         -- 'card', or 'released': coarse scores over secret entries
    run_card_hash text,                         -- its seal; of a released card that of the card which stayed inside
    run_id text,
    composite_score real,
    quality_tier text,
    chrf_plus_plus real,
    exact_match_rate real,
    fst_acceptance_rate real,
    corpus_bleu real,
    comet_score real,
    total_cost_usd real,
    cost_per_1k_tokens real,
    avg_latency_seconds real,
    model_slug text,
    condition text,
    dataset_id text,
    language_pair text,
    fingerprint_hash text,
    may_publish text,                              -- on whose word its texts were published, where no term settled it
    submitted_by text NOT NULL DEFAULT rosetta_submitter(),
    published_at timestamptz NOT NULL,
    is_public boolean NOT NULL DEFAULT true     -- whoever owns the table may take a card from the readers
);

CREATE INDEX idx_composite ON run_cards (composite_score);
CREATE INDEX idx_leaderboard ON run_cards (dataset_id, chrf_plus_plus);
CREATE INDEX idx_model ON run_cards (model_slug);
CREATE INDEX idx_fingerprint ON run_cards (fingerprint_hash);

CREATE FUNCTION rosetta_filled(row_of run_cards) RETURNS run_cards
LANGUAGE plpgsql IMMUTABLE SET search_path = public, pg_temp AS $$
-- a row with every column that follows from the bytes of its card
DECLARE
    card_text text := convert_from(row_of.card_bytes, 'UTF8');
    card jsonb := rosetta_card_json(card_text);
    scores jsonb := card -> 'scores';
    released boolean := starts_with(coalesce(card ->> 'format', ''), 'rosetta-released-card/');
    stated text := card ->> 'run_card_hash';
    found text := encode(sha256(convert_to(replace(
        card_text, '"run_card_hash":"' || stated || '"', '"run_card_hash":""'
    ), 'UTF8')), 'hex');
BEGIN
    IF released THEN
        SELECT jsonb_object_agg(key, value -> 'value') INTO scores FROM jsonb_each(scores);
    END IF;
    row_of.card_hash := CASE WHEN found = stated AND NOT released THEN stated ELSE encode(sha256(row_of.card_bytes), 'hex') END;
    row_of.run_card := card;
    row_of.form := CASE WHEN released THEN 'released' ELSE 'card' END;
    row_of.run_card_hash := rosetta_text(card -> 'run_card_hash');
    row_of.run_id := rosetta_text(CASE WHEN released THEN card -> 'run' ELSE card -> 'run_id' END);
    row_of.composite_score := rosetta_real(scores -> 'composite');
    row_of.quality_tier := rosetta_text(scores -> 'quality_tier');
    row_of.chrf_plus_plus := rosetta_real(scores -> 'chrf_plus_plus');
    row_of.exact_match_rate := rosetta_real(scores -> 'exact_match_rate');
    row_of.fst_acceptance_rate := rosetta_real(scores -> 'fst_acceptance_rate');
    row_of.corpus_bleu := rosetta_real(scores -> 'bleu');
    row_of.comet_score := rosetta_real(scores -> 'comet_score');
    row_of.total_cost_usd := rosetta_real(card #> '{cost,total_cost_usd}');
    row_of.cost_per_1k_tokens := rosetta_real(card #> '{cost,cost_per_1k_tokens}');
    row_of.avg_latency_seconds := rosetta_real(card #> '{speed,avg_latency_seconds}');
    row_of.model_slug := rosetta_text(CASE WHEN released THEN card #> '{method,model_slug}' ELSE card -> 'model_slug' END);
    row_of.condition := rosetta_text(CASE WHEN released THEN card #> '{method,condition}' ELSE card -> 'condition' END);
    row_of.dataset_id := rosetta_text(CASE WHEN released THEN card #> '{corpus,id}' ELSE card #> '{dataset,id}' END);
    row_of.language_pair := rosetta_text(CASE WHEN released THEN card #> '{corpus,language_pair}' ELSE card #> '{dataset,language_pair}' END);
    row_of.fingerprint_hash := rosetta_text(card #> '{fingerprint,hash}');
    RETURN row_of;
END
$$;

CREATE FUNCTION rosetta_fill_run_card() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.published_at := now();
    END IF;
    RETURN rosetta_filled(NEW);
END
$$;

CREATE TRIGGER fill_run_card BEFORE INSERT OR UPDATE ON run_cards
FOR EACH ROW EXECUTE FUNCTION rosetta_fill_run_card();

-- Rights say what a role may do at all, policies with which rows; no policy lets anybody change or delete one.
ALTER TABLE run_cards ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON run_cards FOR SELECT USING (is_public);
CREATE POLICY submitters ON run_cards FOR INSERT
WITH CHECK (is_public AND submitted_by = rosetta_submitter());

-- Names of roles that are known: those of Supabase, and two that whoever runs the database may make. Absent ones are passed over.
DO $$
DECLARE
    role text;
BEGIN
    FOR role IN SELECT rolname FROM pg_roles
        WHERE rolname IN ('anon', 'authenticated', 'service_role', 'rosetta_reader', 'rosetta_submitter')
    LOOP
        EXECUTE format('REVOKE ALL ON run_cards, rosetta_schema FROM %I', role);
        EXECUTE format('GRANT SELECT ON run_cards, rosetta_schema TO %I', role);
        IF role IN ('authenticated', 'rosetta_submitter') THEN
            EXECUTE format('GRANT INSERT ON run_cards TO %I', role);
        ELSIF role = 'service_role' THEN
            EXECUTE format('GRANT INSERT, UPDATE, DELETE ON run_cards TO %I', role);
        END IF;
    END LOOP;
END
$$;
