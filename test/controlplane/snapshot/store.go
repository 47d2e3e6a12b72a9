// Package snapshot keeps the content of clusters when their packages were installed, so that the next control plane of the same packages starts from there.
package snapshot

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Kept is the number of the last used snapshots that a Store retains.
const Kept = 4

const (
	lockName   = "lock"
	unfinished = "unfinished-"
)

// A Store is a folder with one snapshot under each key, for several processes at once. The zero Store has none, and keeps none.
type Store struct{ Dir string }

// Key returns a key that differs when any of the parts does.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		_, _ = h.Write(sum[:]) // A hash returns no error.
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Restore copies the snapshot under a key into a directory, and returns whether there is one. It returns an error if it cannot be copied.
func (s Store) Restore(key, dir string) (bool, error) {
	if s.Dir == "" {
		return false, nil
	}
	unlock, err := s.lockStoreFile(syscall.LOCK_SH)
	if err != nil {
		return false, err
	}
	defer unlock()
	stored := filepath.Join(s.Dir, key)
	if _, err := os.Stat(stored); err != nil {
		return false, errors.Wrap(ignoreMissing(err), "cannot find snapshot")
	}
	now := time.Now()
	if err := os.Chtimes(stored, now, now); err != nil {
		return false, errors.Wrap(err, "cannot mark snapshot as used")
	}
	return true, errors.Wrap(os.CopyFS(dir, os.DirFS(stored)), "cannot copy snapshot")
}

// Save keeps these folders of a directory under a key, unless there is a snapshot already, and removes the least recently used ones. A process that
// is killed meanwhile leaves no snapshot. It returns an error if the folders cannot be copied.
func (s Store) Save(key, dir string, folders ...string) error {
	if s.Dir == "" {
		return nil
	}
	unlock, err := s.lockStoreFile(syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(s.Dir, key)); err == nil {
		return nil
	}
	if err := s.copyFolders(key, dir, folders); err != nil {
		return errors.Wrap(err, "cannot keep snapshot")
	}
	return errors.Wrap(s.removeOldest(), "cannot remove old snapshot")
}

func (s Store) copyFolders(key, dir string, folders []string) error {
	copied, err := os.MkdirTemp(s.Dir, unfinished)
	if err != nil {
		return err
	}
	for _, f := range folders {
		if err := os.CopyFS(filepath.Join(copied, f), os.DirFS(filepath.Join(dir, f))); err != nil {
			return errors.Join(err, os.RemoveAll(copied))
		}
	}
	return os.Rename(copied, filepath.Join(s.Dir, key))
}

// removeOldest removes the oldest snapshots, and unfinished ones of killed processes.
func (s Store) removeOldest() error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	var stored []os.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(e.Name(), unfinished):
			err = os.RemoveAll(filepath.Join(s.Dir, e.Name()))
		case e.IsDir():
			stored = append(stored, info)
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(stored, func(a, b os.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range stored[min(Kept, len(stored)):] {
		if err := os.RemoveAll(filepath.Join(s.Dir, info.Name())); err != nil {
			return err
		}
	}
	return nil
}

// lockStoreFile locks the store until the returned function is called, or this process ends.
func (s Store) lockStoreFile(operation int) (func(), error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot make folder of snapshots")
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open lock of snapshots")
	}
	if err := syscall.Flock(int(f.Fd()), operation); err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot lock snapshots"), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
