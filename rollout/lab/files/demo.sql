-- What a rehearsal host holds: over 200 MB in several schemas, the same on each host (no random numbers).
CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE DATABASE archive CHARACTER SET utf8mb4;
CREATE DATABASE metrics CHARACTER SET latin1;
CREATE DATABASE rollout_demo_writer CHARACTER SET utf8mb4;

-- Bulk load into empty tables writes no undo log, so the system tablespace stays small.
SET unique_checks = 0, foreign_key_checks = 0;
USE shop;
CREATE TABLE customers (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  email VARCHAR(120) NOT NULL,
  note TEXT,
  UNIQUE KEY email (email)
) ENGINE=InnoDB;
INSERT INTO customers
  SELECT seq, CONCAT('Customer ', seq, ' Жанна Ñandú 東京'), CONCAT(MD5(seq), '@example.org'), REPEAT(SHA1(seq), 3)
  FROM seq_1_to_100000;
CREATE TABLE orders (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  customer_id INT UNSIGNED NOT NULL,
  ordered_at DATETIME(6) NOT NULL,
  total DECIMAL(12,2) NOT NULL,
  KEY customer (customer_id),
  KEY ordered_at (ordered_at),
  CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE CASCADE
) ENGINE=InnoDB;
INSERT INTO orders
  SELECT seq, 1 + seq * 7919 % 100000, '2025-01-01' + INTERVAL seq * 61 SECOND, seq * 37 % 100000 / 100
  FROM seq_1_to_400000;
CREATE TABLE order_lines (
  order_id INT UNSIGNED NOT NULL,
  line TINYINT UNSIGNED NOT NULL,
  article VARCHAR(64) NOT NULL,
  quantity INT NOT NULL,
  PRIMARY KEY (order_id, line),
  KEY article (article),
  CONSTRAINT lines_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE
) ENGINE=InnoDB;
INSERT INTO order_lines
  SELECT 1 + seq DIV 2, seq % 2, MD5(seq * 104729 % 20000), 1 + seq % 9 FROM seq_0_to_599999;
CREATE VIEW turnover AS
  SELECT customer_id, COUNT(*) AS orders, SUM(total) AS total FROM orders GROUP BY customer_id;
DELIMITER //
CREATE PROCEDURE discount(IN customer INT UNSIGNED, IN percent DECIMAL(5,2))
BEGIN
  UPDATE orders SET total = total * (100 - percent) / 100 WHERE customer_id = customer;
END //
CREATE FUNCTION gross(net DECIMAL(12,2)) RETURNS DECIMAL(12,2) DETERMINISTIC
  RETURN net * 1.20 //
CREATE TRIGGER quantity_is_positive BEFORE INSERT ON order_lines FOR EACH ROW
  IF NEW.quantity <= 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'quantity must be positive'; END IF //
CREATE EVENT forget_old_orders ON SCHEDULE EVERY 1 DAY
  DO DELETE FROM shop.orders WHERE ordered_at < NOW() - INTERVAL 10 YEAR //
DELIMITER ;

USE archive;
CREATE TABLE documents (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  title VARCHAR(100) NOT NULL,
  body MEDIUMTEXT NOT NULL,
  KEY title (title)
) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8;
INSERT INTO documents
  SELECT seq, CONCAT('Document ', seq), REPEAT(CONCAT(SHA2(seq, 512), ' '), 12) FROM seq_1_to_40000;

USE metrics;
CREATE TABLE samples (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  taken_at DATETIME NOT NULL,
  value DOUBLE NOT NULL,
  label VARCHAR(100) NOT NULL,
  KEY taken_at (taken_at)
) ENGINE=Aria TRANSACTIONAL=1;
INSERT INTO samples
  SELECT seq, '2025-01-01' + INTERVAL seq SECOND, seq / 7, REPEAT(MD5(seq), 2) FROM seq_1_to_300000;

USE rollout_demo_writer;
CREATE TABLE written (
  number BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  written_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
) ENGINE=InnoDB;

CREATE USER 'shop_reader'@'%' IDENTIFIED BY 'rehearsal only';
GRANT SELECT ON shop.* TO 'shop_reader'@'%';
CREATE USER 'rollout-demo-writer'@'localhost' IDENTIFIED VIA unix_socket;
GRANT SELECT, INSERT ON rollout_demo_writer.* TO 'rollout-demo-writer'@'localhost';
