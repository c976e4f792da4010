SET SESSION sql_log_bin=0, rand_seed1=@SEED@, rand_seed2=@SEED@ + 77;
CREATE TABLE @TABLE@ (id INT UNSIGNED NOT NULL PRIMARY KEY, k INT UNSIGNED NOT NULL, c CHAR(180) NOT NULL)
  ENGINE=InnoDB DEFAULT CHARSET=latin1 STATS_PERSISTENT=1;
-- The values of k are the numbers of the rows in another order, so that neighbours in k lie far apart in the table.
INSERT INTO @TABLE@ SELECT seq, 1 + MOD(seq * @STRIDE@, @ROWS@), SHA2(RAND(), 512) FROM seq_1_to_@ROWS@;
ALTER TABLE @TABLE@ ADD INDEX k (k);
ANALYZE TABLE @TABLE@;
