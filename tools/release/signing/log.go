package signing

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/cosign/v3/pkg/cosign/bundle"
	rekor "github.com/sigstore/rekor/pkg/client"
	"github.com/sigstore/rekor/pkg/generated/client"
	"github.com/sigstore/rekor/pkg/generated/models"
)

// A Log is a transparency log with the API of Rekor v1. The nil Log records nothing.
type Log struct{ client *client.Rekor }

// OpenLog returns the log of a server such as https://rekor.sigstore.dev.
func OpenLog(address string) (*Log, error) {
	c, err := rekor.GetRekorClient(address, rekor.WithUserAgent("intentplane-release"))
	if err != nil {
		return nil, fmt.Errorf("cannot use transparency log %s: %w", address, err)
	}
	return &Log{client: c}, nil
}

// recordSignature records the signature of a payload, and returns the entry as cosign attaches it to the signature.
func (l *Log) recordSignature(ctx context.Context, payload, raw, public []byte) (*bundle.RekorBundle, error) {
	if l == nil {
		return nil, nil
	}
	digest := sha256.New()
	digest.Write(payload) // A hash never returns an error.
	return attachment(cosign.TLogUpload(ctx, l.client, raw, digest, public))
}

// recordEnvelope records a signed envelope.
func (l *Log) recordEnvelope(ctx context.Context, envelope, public []byte) (*bundle.RekorBundle, error) {
	if l == nil {
		return nil, nil
	}
	return attachment(cosign.TLogUploadDSSEEnvelope(ctx, l.client, envelope, public))
}

func attachment(entry *models.LogEntryAnon, err error) (*bundle.RekorBundle, error) {
	if err != nil {
		return nil, fmt.Errorf("cannot record the signature in the transparency log: %w", err)
	}
	b := bundle.EntryToBundle(entry)
	if b == nil {
		return nil, fmt.Errorf("cannot use the answer of the transparency log: it has no signed timestamp")
	}
	return b, nil
}
