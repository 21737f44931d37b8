-- CRC-32C of debate, seq, type, key, at and data, as a signed number. It is null in entries of older programs.
alter table entries add column checksum integer;
