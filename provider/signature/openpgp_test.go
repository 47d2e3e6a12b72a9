package signature

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/ProtonMail/go-crypto/openpgp/s2k"
)

// sealedPGP returns an armored key with a passphrase and with some more signing keys.
func sealedPGP(t *testing.T, c *packet.Config, more int) string {
	t.Helper()
	e := must[*openpgp.Entity](t)(openpgp.NewEntity("Intentplane", "", "intentplane@example.org", c))
	for range more {
		if err := e.AddSigningSubkey(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.EncryptPrivateKeys([]byte("passphrase"), c); err != nil {
		t.Fatal(err)
	}
	return armorKey(t, openpgp.PrivateKeyType, func(w *bytes.Buffer) error { return e.SerializePrivateWithoutSigning(w, nil) })
}

// TestCostOfPassphrase opens keys whose author chooses the cost of the passphrase.
func TestCostOfPassphrase(t *testing.T) {
	config := func(derivation *s2k.Config) *packet.Config {
		return &packet.Config{Time: at(now().AddDate(0, 0, -1)), Algorithm: packet.PubKeyAlgoEdDSA, S2KConfig: derivation, AEADConfig: &packet.AEADConfig{}}
	}
	iterated := &s2k.Config{S2KMode: s2k.IteratedSaltedS2K, S2KCount: 65536}
	argon := &s2k.Config{S2KMode: s2k.Argon2S2K, Argon2Config: &s2k.Argon2Config{NumberOfPasses: 1, DegreeOfParallelism: 1, Memory: 64}}
	cases := map[string]struct {
		reason string
		key    string
		want   string
	}{
		"Iterated": {reason: "A key of gpg is opened by its passphrase.", key: sealedPGP(t, config(iterated), 2)},
		"Argon2":   {reason: "A passphrase may not take any amount of memory.", key: sealedPGP(t, config(argon), 0), want: "protected by Argon2"},
		"Subkeys": {
			reason: "A passphrase may not be derived any number of times.",
			key:    sealedPGP(t, config(iterated), maxPrivateKeys), want: "more than 8 private keys",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := New(Key{Format: FormatOpenPGP, Private: tc.key, Passphrase: "passphrase"}, now).Check()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nCheck(): want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestMayUseArgon2 has keys without a passphrase, and a key whose method is unknown.
func TestMayUseArgon2(t *testing.T) {
	if mayUseArgon2(&packet.PrivateKey{}) || !mayUseArgon2(&packet.PrivateKey{Encrypted: true}) {
		t.Error("A key without a passphrase needs no method, and a key with an unknown method is refused: mayUseArgon2(...)")
	}
}
