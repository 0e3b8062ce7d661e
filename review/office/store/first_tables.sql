    CREATE TABLE own_device (      -- ids of the organisation's own chains of events, the last one continues
        device TEXT PRIMARY KEY,
        fingerprint TEXT NOT NULL  -- of the place of this file, a copy begins its own chain
    ) STRICT;
    CREATE TABLE recovery (        -- who else can open the ratings, where nobody was named: one row
        recipient TEXT NOT NULL,
        made TEXT NOT NULL
    ) STRICT;
    CREATE TABLE review (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created TEXT NOT NULL,     -- UTC, ISO 8601
        answer_key BLOB NOT NULL,  -- canonical JSON
        policy BLOB NOT NULL       -- TOML, as read
    ) STRICT;
    CREATE TABLE batch (
        batch TEXT PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        manifest BLOB NOT NULL     -- canonical JSON
    ) STRICT;
    CREATE TABLE item (
        item TEXT PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        source TEXT NOT NULL,
        candidate TEXT NOT NULL
    ) STRICT;
    CREATE TABLE laptop (          -- whose ratings are taken
        signing_key TEXT PRIMARY KEY,
        recipient TEXT,            -- NULL where it is known by its ratings only
        name TEXT NOT NULL,
        enrolled TEXT NOT NULL
    ) STRICT;
    CREATE TABLE delivery (        -- how far a device's chain belongs to a batch
        device TEXT NOT NULL,
        batch TEXT NOT NULL REFERENCES batch (batch),
        signing_key TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        PRIMARY KEY (device, batch)
    ) STRICT;
    CREATE TABLE quarantine (      -- files of laptops that nobody has vouched for, as they came
        sha256 TEXT PRIMARY KEY,
        signing_key TEXT NOT NULL,
        received TEXT NOT NULL,
        name TEXT NOT NULL,
        content BLOB NOT NULL
    ) STRICT;
    CREATE TABLE import (
        number INTEGER PRIMARY KEY,
        sha256 TEXT NOT NULL,
        received TEXT NOT NULL,
        name TEXT NOT NULL,
        signing_key TEXT NOT NULL,
        batch TEXT NOT NULL,
        added INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE contribution (    -- which import brought something of a reviewer
        reviewer TEXT NOT NULL,
        batch TEXT NOT NULL,
        received TEXT NOT NULL,
        PRIMARY KEY (reviewer, batch)
    ) STRICT;
    CREATE TABLE certificate (
        number INTEGER PRIMARY KEY,
        review INTEGER NOT NULL REFERENCES review (number),
        run_id TEXT NOT NULL,
        certificate BLOB NOT NULL,
        signature BLOB NOT NULL,
        recompute INTEGER NOT NULL DEFAULT 0   -- 1: something was withdrawn since
    ) STRICT
