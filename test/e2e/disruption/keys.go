package disruption

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// A sealedKey is a private key with a passphrase.
type sealedKey struct {
	public ssh.PublicKey
	pem    string
}

func newSealedKey(t *testing.T, passphrase string) sealedKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	k, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return sealedKey{public: k, pem: string(pem.EncodeToMemory(block))}
}

// privateKeyLines returns the lines of the key that no other server has.
func (k sealedKey) privateKeyLines() []string {
	all := strings.Split(strings.TrimSpace(k.pem), "\n")
	return all[2 : len(all)-1] // The first line has only the kind of encryption.
}
