// Package sigstore plays, for tests, the services of Sigstore that Crossplane trusts when it verifies signatures: a transparency log, and a TUF repository with the
// key of that log. The entries are those of Rekor's own library, and each is checked by it. The log is played in that it keeps nothing: each entry is the only
// leaf of its tree.
package sigstore

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	"github.com/go-openapi/runtime"
	"github.com/go-openapi/strfmt"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/cosign/v3/pkg/cosign/bundle"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/transparency-dev/merkle/rfc6962"
)

// maxEntry is the limit of a proposed entry, in bytes.
const maxEntry = 16 << 20

// A Log is a played transparency log.
type Log struct {
	key     *ecdsa.PrivateKey
	id      string
	now     func() time.Time
	entries atomic.Int64

	// PublicKey is the key that verifies the timestamps of entries, as PEM.
	PublicKey []byte
}

// NewLog returns a log with a new key.
func NewLog(now func() time.Time) (*Log, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key of a log: %w", err)
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	if err != nil {
		return nil, fmt.Errorf("cannot encode the key of a log: %w", err)
	}
	id, err := cosign.GetTransparencyLogID(key.Public())
	if err != nil {
		return nil, fmt.Errorf("cannot name a log: %w", err)
	}
	return &Log{key: key, id: id, now: now, PublicKey: public}, nil
}

// Entries returns the number of recorded entries.
func (l *Log) Entries() int64 { return l.entries.Load() }

// ServeHTTP answers the request that records an entry, as Rekor does.
func (l *Log) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/api/v1/log/entries" {
		http.NotFound(w, r)
		return
	}
	answer, err := l.record(r.Context(), http.MaxBytesReader(w, r.Body, maxEntry))
	w.Header().Set("Content-Type", runtime.JSONMime)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(models.Error{Code: http.StatusBadRequest, Message: err.Error()}) // The client is gone.
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(answer) // The client is gone.
}

func (l *Log) record(ctx context.Context, body io.Reader) (models.LogEntry, error) {
	proposed, err := models.UnmarshalProposedEntry(body, runtime.JSONConsumer())
	if err != nil {
		return nil, fmt.Errorf("cannot read the entry: %w", err)
	}
	entry, err := types.UnmarshalEntry(proposed)
	if err != nil {
		return nil, fmt.Errorf("cannot verify the entry: %w", err)
	}
	text, err := types.CanonicalizeEntry(ctx, entry)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the entry: %w", err)
	}
	return l.answer(text)
}

// answer returns an entry with its signed timestamp, and the proof that it is the only leaf of its tree.
func (l *Log) answer(text []byte) (models.LogEntry, error) {
	payload := bundle.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(text), IntegratedTime: l.now().Unix(), LogIndex: l.entries.Add(1) - 1, LogID: l.id,
	}
	timestamp, err := l.sign(payload)
	if err != nil {
		return nil, err
	}
	leaf := hex.EncodeToString(rfc6962.DefaultHasher.HashLeaf(text))
	return models.LogEntry{leaf: models.LogEntryAnon{
		Body: payload.Body, IntegratedTime: &payload.IntegratedTime, LogIndex: &payload.LogIndex, LogID: &payload.LogID,
		Verification: &models.LogEntryAnonVerification{
			SignedEntryTimestamp: strfmt.Base64(timestamp),
			InclusionProof: &models.InclusionProof{
				Checkpoint: new("played"), Hashes: []string{}, LogIndex: new(int64(0)), RootHash: &leaf, TreeSize: new(int64(1)),
			},
		},
	}}, nil
}

func (l *Log) sign(payload bundle.RekorPayload) ([]byte, error) {
	text, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the entry: %w", err)
	}
	canonical, err := jsoncanonicalizer.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the entry: %w", err)
	}
	digest := sha256.Sum256(canonical)
	return ecdsa.SignASN1(rand.Reader, l.key, digest[:])
}
