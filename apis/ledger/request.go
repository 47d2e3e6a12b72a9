package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns one digest of the whole request, by which users name it.
func (r Request) Digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d", r.Intent, r.Sources, r.Scheme, r.Renderer))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// HasNewerRenderer is true for a request that differs from another one by a newer renderer alone.
func (r Request) HasNewerRenderer(previous Request) bool {
	return r.HasSourcesOf(previous) && r.Renderer > previous.Renderer
}

// HasSourcesOf is true for a request that, but for the versions of scheme and renderer, is another one.
func (r Request) HasSourcesOf(previous Request) bool {
	return r.Intent == previous.Intent && r.Sources == previous.Sources
}

// RequestDigest returns the digest of the request of a revision, or "" if the ledger does not remember the revision.
func (s State) RequestDigest(revision int64) string {
	if s.Current != nil && s.Current.Number == revision {
		return s.Current.Request.Digest()
	}
	for _, p := range s.History {
		if p.Number == revision {
			return p.Request.Digest()
		}
	}
	return ""
}
