package sigstore

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	trust "github.com/sigstore/sigstore/pkg/tuf"
	"github.com/theupdateframework/go-tuf"
)

// A target is a file of a TUF repository, with the use that clients find it by.
type target struct {
	use     trust.UsageKind
	content []byte
}

// Trust writes the trust of a client of Sigstore into the folder of the variable TUF_ROOT: the key of the log, and a certificate authority and a log of certificates
// that sign nothing. It makes a TUF repository, serves it while the client of Sigstore's library initializes from it, and leaves what that client keeps.
func Trust(ctx context.Context, logKey []byte, now time.Time) error {
	if os.Getenv(trust.TufRootEnv) == "" {
		return errors.New("cannot keep the trust of a client: " + trust.TufRootEnv + " names no folder")
	}
	authority, err := newAuthority(now)
	if err != nil {
		return fmt.Errorf("cannot make a certificate authority: %w", err)
	}
	dir, err := os.MkdirTemp("", "tuf-")
	if err != nil {
		return fmt.Errorf("cannot make a TUF repository: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // It is a temporary folder.
	root, err := writeRepository(dir, map[string]target{
		"rekor.pub":      {use: trust.Rekor, content: logKey},
		"ctfe.pub":       {use: trust.CTFE, content: logKey},
		"fulcio.crt.pem": {use: trust.Fulcio, content: authority},
	})
	if err != nil {
		return fmt.Errorf("cannot make a TUF repository: %w", err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "repository"))))
	defer s.Close()
	return trust.Initialize(ctx, s.URL, root)
}

// newAuthority returns the certificate of an authority whose key is thrown away.
func newAuthority(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "played"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return cryptoutils.PEMEncode(cryptoutils.CertificatePEMType, raw), nil
}

// writeRepository writes a TUF repository and returns the root that clients trust at first.
func writeRepository(dir string, targets map[string]target) ([]byte, error) {
	store := tuf.FileSystemStore(dir, nil)
	repository, err := tuf.NewRepo(store)
	if err != nil {
		return nil, err
	}
	if err := repository.Init(false); err != nil {
		return nil, err
	}
	for _, role := range []string{"root", "targets", "snapshot", "timestamp"} {
		if _, err := repository.GenKey(role); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if err := addTarget(dir, repository, name, targets[name]); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{repository.Snapshot, repository.Timestamp, repository.Commit} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	meta, err := store.GetMeta()
	return meta["root.json"], err
}

func addTarget(dir string, repository *tuf.Repo, name string, t target) error {
	staged := filepath.Join(dir, "staged", "targets")
	if err := os.MkdirAll(staged, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(staged, name), t.content, 0o600); err != nil {
		return err
	}
	meta, err := json.Marshal(map[string]any{"sigstore": map[string]any{"usage": t.use, "status": trust.Active}})
	if err != nil {
		return err
	}
	return repository.AddTarget(name, meta)
}
