-- Lists of the debates in a state, with an outcome or with a failure, in the order of lists. Running debates are not in the
-- partial indexes, so that commits do not write to these.
CREATE INDEX debates_state   ON debates (state, created DESC, id DESC);
CREATE INDEX debates_outcome ON debates (outcome, created DESC, id DESC) WHERE outcome <> '';
CREATE INDEX debates_failure ON debates (failure, created DESC, id DESC) WHERE failure <> '';
