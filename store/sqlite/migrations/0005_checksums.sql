-- CRC-32C of debate, seq, type, key, at and data, as a signed number. It is null in entries of older versions of this package.
ALTER TABLE entries ADD COLUMN checksum INTEGER;
