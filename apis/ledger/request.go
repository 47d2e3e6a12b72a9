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
