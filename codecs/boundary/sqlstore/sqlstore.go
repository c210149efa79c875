// Package sqlstore records used tokens in a table of an SQL database, for a
// fleet with single-use tokens. It is tested on PostgreSQL 15 and SQLite 3. The
// database must support INSERT ... ON CONFLICT DO NOTHING and parameters named
// $1, $2, ...
//
// The table has one row for each use:
//
//	id         text, the ID in hexadecimal; primary key
//	principal  text, the digest of the principal in hexadecimal
//	until      bigint, the end of the token's life in Unix seconds
//
// A further row has an empty id; its until is the latest of all pruned rows. A
// use is one INSERT. A token that expires no later than a pruned one is
// refused, so that a clock that goes back does not revive a token.
//
// # Faults
//
// If the database fails, the token is refused, and it may be used up.
// PostgreSQL loses uses with synchronous_commit off, and in a failover to an
// asynchronous standby. A token whose use is lost can be used once more until
// it expires.
package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sealab/codecs/boundary"
)

// Options configure a Store. The zero value is useful.
type Options struct {
	// Table is the name of the table: lower-case letters, digits and
	// underscores. "": "sealab_used_tokens".
	Table string
	// Quota is the maximum number of records of one principal. All requests
	// without a principal count as one principal. Concurrent uses may exceed it
	// by a few. 0: no limit.
	Quota int
}

// Store is a boundary.Store in an SQL database.
type Store struct {
	db    *sql.DB
	quota int

	spend, uses, latest, horizon, forget string // SQL statements
}

var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}$`)

// New returns a store in db. It creates the table if it is missing.
func New(ctx context.Context, db *sql.DB, o Options) (*Store, error) {
	if o.Table == "" {
		o.Table = "sealab_used_tokens"
	}
	if !tableName.MatchString(o.Table) {
		return nil, fmt.Errorf("sqlstore: table %q: want at most 51 of a-z, 0-9 and _, and no digit at the beginning", o.Table)
	}
	s := &Store{db: db, quota: o.Quota}
	in := func(statement string) string { return strings.ReplaceAll(statement, "@", o.Table) }
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS @ (id VARCHAR(32) PRIMARY KEY, principal VARCHAR(32) NOT NULL, until BIGINT NOT NULL)`,
		`CREATE INDEX IF NOT EXISTS @_principal ON @ (principal)`,
		`CREATE INDEX IF NOT EXISTS @_until ON @ (until)`,
		`INSERT INTO @ (id, principal, until) VALUES ('', '', 0) ON CONFLICT (id) DO NOTHING`,
	} {
		if _, err := db.ExecContext(ctx, in(statement)); err != nil {
			return nil, fmt.Errorf("sqlstore: making the table: %w", err)
		}
	}
	s.spend = in(`INSERT INTO @ (id, principal, until)
		SELECT CAST($1 AS VARCHAR(32)), CAST($2 AS VARCHAR(32)), CAST($3 AS BIGINT)
		WHERE CAST($3 AS BIGINT) > (SELECT until FROM @ WHERE id = '')
		ON CONFLICT (id) DO NOTHING`)
	s.uses = in(`SELECT count(*) FROM @ WHERE principal = $1 AND until > $2 AND id <> ''`)
	s.latest = in(`SELECT max(until) FROM @ WHERE until <= $1 OR id = ''`)
	s.horizon = in(`UPDATE @ SET until = $1 WHERE id = '' AND until < $1`)
	s.forget = in(`DELETE FROM @ WHERE until <= $1 AND id <> ''`)
	return s, nil
}

// Spend implements boundary.Store.
func (s *Store) Spend(ctx context.Context, u boundary.Use) (first bool, err error) {
	id, principal := hex.EncodeToString(u.ID[:]), hex.EncodeToString(u.Principal[:])
	if s.quota > 0 {
		var n int
		if err := s.db.QueryRowContext(ctx, s.uses, principal, u.Now.Unix()).Scan(&n); err != nil {
			return false, fmt.Errorf("sqlstore: counting the uses of a principal: %w", err)
		}
		if n >= s.quota {
			return false, boundary.ErrQuota
		}
	}
	res, err := s.db.ExecContext(ctx, s.spend, id, principal, u.Until.Unix())
	if err != nil {
		return false, fmt.Errorf("sqlstore: recording a use: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("sqlstore: recording a use: %w", err)
	}
	return n == 1, nil
}

// margin is how long Prune keeps the record of a token that has expired.
const margin = time.Hour

// Prune deletes the records of tokens that expired at least an hour ago, and
// returns their number. Call it regularly on one server of the fleet.
func (s *Store) Prune(ctx context.Context, now time.Time) (deleted int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // does not matter if the transaction was committed
	// A use that is recorded meanwhile is deleted only if the horizon covers it.
	var until int64
	if err := tx.QueryRowContext(ctx, s.latest, now.Add(-margin).Unix()).Scan(&until); err != nil {
		return 0, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	if _, err := tx.ExecContext(ctx, s.horizon, until); err != nil {
		return 0, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	res, err := tx.ExecContext(ctx, s.forget, until)
	if err != nil {
		return 0, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	return res.RowsAffected()
}
