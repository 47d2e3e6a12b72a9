package signature

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // It is what must be refused.
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"
)

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func must[T any](t *testing.T) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// sshRSA returns an RSA key of a length in bits, as PEM, and its public key.
func sshRSA(t *testing.T, bits int) (private, public string) {
	t.Helper()
	k := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, bits))
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)}
	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(must[ssh.PublicKey](t)(ssh.NewPublicKey(k.Public()))))
}

func sshDSA(t *testing.T) string {
	t.Helper()
	k := &dsa.PrivateKey{}
	if err := dsa.GenerateParameters(&k.Parameters, rand.Reader, dsa.L1024N160); err != nil {
		t.Fatal(err)
	}
	if err := dsa.GenerateKey(k, rand.Reader); err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(must[ssh.PublicKey](t)(ssh.NewPublicKey(&k.PublicKey))))
}

func sshKey(t *testing.T, k any) string {
	t.Helper()
	return string(pem.EncodeToMemory(must[*pem.Block](t)(ssh.MarshalPrivateKey(k, ""))))
}

// armorKey returns the output of a function in the armor of a kind of key.
func armorKey(t *testing.T, kind string, write func(w *bytes.Buffer) error) string {
	t.Helper()
	raw, out := &bytes.Buffer{}, &bytes.Buffer{}
	if err := write(raw); err != nil {
		t.Fatal(err)
	}
	w, err := armor.Encode(out, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(raw.Bytes())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// pgp returns an armored key that was created at a time.
func pgp(t *testing.T, c *packet.Config) (private, public string) {
	t.Helper()
	e := must[*openpgp.Entity](t)(openpgp.NewEntity("Intentplane", "", "intentplane@example.org", c))
	private = armorKey(t, openpgp.PrivateKeyType, func(w *bytes.Buffer) error { return e.SerializePrivateWithoutSigning(w, nil) })
	return private, armorKey(t, openpgp.PublicKeyType, func(w *bytes.Buffer) error { return e.Serialize(w) })
}

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func TestCheckKeys(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := sshKey(t, ed)
	ec := sshKey(t, must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)))
	long, _ := sshRSA(t, 2048)
	short, shortPublic := sshRSA(t, 1024)
	yesterday := at(now().AddDate(0, 0, -1))
	goodPGP, _ := pgp(t, &packet.Config{Time: yesterday, Algorithm: packet.PubKeyAlgoEdDSA})
	shortPGP, shortPublicPGP := pgp(t, &packet.Config{Time: yesterday, Algorithm: packet.PubKeyAlgoRSA, RSABits: 1024})
	ended, _ := pgp(t, &packet.Config{Time: yesterday, Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 3600})
	cases := map[string]struct {
		reason string
		key    Key
		want   string
	}{
		"Ed25519":  {reason: "A key of a current algorithm signs.", key: Key{Format: FormatSSH, Private: good}},
		"ECDSA":    {reason: "A key of an elliptic curve signs.", key: Key{Format: FormatSSH, Private: ec}},
		"RSA":      {reason: "A long RSA key signs.", key: Key{Format: FormatSSH, Private: long}},
		"ShortRSA": {reason: "A short RSA key is refused: it could be factored.", key: Key{Format: FormatSSH, Private: short}, want: "2048 bits"},
		"TrustedShortRSA": {
			reason: "A short RSA key is refused among the trusted keys.",
			key:    Key{Format: FormatSSH, Private: good, Trusted: []byte(shortPublic)}, want: "each trusted signing key",
		},
		"TrustedDSA": {
			reason: "A DSA key is refused among the trusted keys.",
			key:    Key{Format: FormatSSH, Private: good, Trusted: []byte(sshDSA(t))}, want: "each trusted signing key",
		},
		"OpenPGP":      {reason: "An OpenPGP key of a current algorithm signs.", key: Key{Format: FormatOpenPGP, Private: goodPGP}},
		"ShortOpenPGP": {reason: "A short OpenPGP key is refused: it could be factored.", key: Key{Format: FormatOpenPGP, Private: shortPGP}, want: "2048 bits"},
		"TrustedShortOpenPGP": {
			reason: "A short RSA key is refused among the trusted keys, too.",
			key:    Key{Format: FormatOpenPGP, Private: goodPGP, Trusted: []byte(shortPublicPGP)}, want: "each trusted signing key",
		},
		"LargeKey": {
			reason: "A key has a limit.", key: Key{Format: FormatSSH, Private: good + strings.Repeat(" ", maxPrivateBytes)}, want: "64 KiB",
		},
		"ManyTrusted": {
			reason: "Trusted keys have a limit.",
			key:    Key{Format: FormatSSH, Private: good, Trusted: []byte(strings.Repeat("#", maxTrustedBytes+1))}, want: "256 KiB",
		},
		"Ended": {
			reason: "An expired key is reported, so that its earlier signatures do not look forged.",
			key:    Key{Format: FormatOpenPGP, Private: ended}, want: "has expired",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := New(tc.key, now).Check()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nCheck(): want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestExpiredKey(t *testing.T) {
	private, _ := pgp(t, &packet.Config{Time: now, Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 3600})
	clock := now().Add(time.Minute)
	s := New(Key{Format: FormatOpenPGP, Private: private}, func() time.Time { return clock })
	signed, err := s.Sign([]byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify([]byte("content"), signed); err != nil {
		t.Errorf("\nThe clock says that the key is good\nVerify(): %v", err)
	}
	if err := s.Verify([]byte("other"), signed); err == nil {
		t.Error("\nA signature does not fit another content\nVerify(): no error")
	}
	clock = now().Add(2 * time.Hour)
	if _, err := s.Sign([]byte("content")); err == nil || s.Check() == nil {
		t.Errorf("\nThe clock says that it has ended\nSign(): %v, Check(): %v", err, s.Check())
	}
}

func TestIsRSALength(t *testing.T) {
	for bits, want := range map[int]bool{minRSABits - 1: false, minRSABits: true, maxRSABits: true, maxRSABits + 1: false} {
		if got := isRSALength(bits); got != want {
			t.Errorf("An RSA key has a minimum and a maximum length: isRSALength(%d): want %v, got %v", bits, want, got)
		}
	}
}
