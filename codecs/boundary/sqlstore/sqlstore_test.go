package sqlstore_test

import (
	"context"
	"database/sql"
	"flag"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/sqlstore"
	"sealab/codecs/boundary/storetest"
)

var tokens = flag.Int("tokens", 100, "tokens that are presented 20 times each")

// presented returns the number of tokens to present, at most 20 with -short.
func presented() int {
	if testing.Short() {
		return min(*tokens, 20)
	}
	return *tokens
}

func open(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	db.SetMaxOpenConns(10)
	t.Cleanup(func() { db.Close() })
	return db
}

func store(t *testing.T, db *sql.DB, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(context.Background(), db, o)
	require.NoError(t, err)
	return s
}

func postgres(t *testing.T, s *storetest.Server) *sql.DB {
	t.Helper()
	db := open(t, "pgx", "user=postgres dbname=postgres sslmode=disable host="+filepath.Dir(s.Socket))
	require.Eventually(t, func() bool { return db.Ping() == nil }, 30*time.Second, 50*time.Millisecond)
	return db
}

func sqlite(t *testing.T) *sql.DB {
	return open(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "used.db")+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
}

func TestSQLite(t *testing.T)     { run(t, sqlite(t)) }
func TestPostgreSQL(t *testing.T) { run(t, postgres(t, storetest.Postgres(t))) }

func run(t *testing.T, db *sql.DB) {
	storetest.Run(t, func(t *testing.T, quota int) boundary.Store { return store(t, db, sqlstore.Options{Quota: quota}) })
	t.Run("Presentations", func(t *testing.T) {
		storetest.Race(t, []boundary.Store{store(t, db, sqlstore.Options{}), store(t, db, sqlstore.Options{})}, presented(), 20)
	})
	t.Run("Prune", func(t *testing.T) {
		s, ctx := store(t, db, sqlstore.Options{Table: "pruned"}), context.Background()
		old, recent := storetest.Fresh(1), storetest.Fresh(2)
		old.Now, old.Until = old.Now.Add(-3*time.Hour), old.Until.Add(-3*time.Hour)
		for _, u := range []boundary.Use{old, recent} {
			first, err := s.Spend(ctx, u)
			require.NoError(t, err)
			require.True(t, first)
		}
		for _, want := range []int64{1, 0} {
			n, err := s.Prune(ctx, time.Now())
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		// The clock goes back. The record of the old token was pruned, and the
		// token is refused nevertheless. A token that expires later is
		// accepted.
		for _, u := range []boundary.Use{old, recent} {
			first, err := s.Spend(ctx, u)
			require.NoError(t, err)
			require.False(t, first)
		}
		later := storetest.Fresh(3)
		later.Now, later.Until = old.Now, old.Until.Add(time.Second)
		first, err := s.Spend(ctx, later)
		require.NoError(t, err)
		require.True(t, first)
	})
	_, err := sqlstore.New(context.Background(), db, sqlstore.Options{Table: "a; DROP TABLE b"})
	require.Error(t, err)
}

func TestFaults(t *testing.T) {
	server := storetest.Postgres(t)
	storetest.Faults(t, server, store(t, postgres(t, server), sqlstore.Options{}))
}
