-- What lists select by, as columns. The defaults are for rows that an older version of this package writes meanwhile.
ALTER TABLE debates ADD COLUMN updated INTEGER NOT NULL DEFAULT 0;  -- microseconds since 1970, UTC
ALTER TABLE debates ADD COLUMN outcome TEXT    NOT NULL DEFAULT ''; -- of the ending
ALTER TABLE debates ADD COLUMN failure TEXT    NOT NULL DEFAULT ''; -- kind of the failure
ALTER TABLE debates ADD COLUMN labels  TEXT    NOT NULL DEFAULT ''; -- all labels, sorted and encoded as in the table labels

DROP INDEX debates_newest;
CREATE INDEX debates_newest ON debates (created DESC, id DESC, state, outcome, failure);

-- The labels of all debates, in the order of lists. A label is encoded as "LENGTH:KEYLENGTH:VALUE", with lengths in
-- bytes. A row without a debate has no effect.
CREATE TABLE labels (
	label   TEXT    NOT NULL,
	created INTEGER NOT NULL,
	debate  TEXT    NOT NULL,
	PRIMARY KEY (label, created, debate)
) WITHOUT ROWID;

CREATE INDEX labels_debate ON labels (debate);

-- The kinds of earlier failures are in journals only. A debate's status gets it when an engine opens the debate.
UPDATE debates SET
	updated = coalesce((SELECT at FROM entries WHERE debate = id ORDER BY seq DESC LIMIT 1), 0),
	outcome = coalesce(CASE WHEN json_valid(status) THEN status ->> '$.ending.outcome' END, '');

INSERT INTO labels
SELECT length(CAST(key AS BLOB)) || ':' || key || length(CAST(value AS BLOB)) || ':' || value, created, debates.id
FROM debates, json_each(CASE WHEN json_valid(status) THEN status END, '$.labels');
