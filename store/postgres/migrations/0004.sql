create index debates_outcome on debates (outcome, created desc, id desc) where outcome <> '';
