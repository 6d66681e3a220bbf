-- Another draft of version 4: times in a table of their own.
CREATE TABLE rocpd_metadata{suffix} (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL);
INSERT INTO rocpd_metadata{suffix} (tag, value) VALUES ('guid', '{guid}'), ('schema_version', '4.0.0');
CREATE TABLE rocpd_timestamp{suffix} (id INTEGER PRIMARY KEY, guid TEXT, value BIGINT, track_id INTEGER);
CREATE TABLE rocpd_region{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, start_id INTEGER, end_id INTEGER, name_id INTEGER, event_id INTEGER);
