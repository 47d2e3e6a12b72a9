package signature

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// pgpForm signs with an OpenPGP key.
type pgpForm struct {
	signer  *openpgp.Entity
	trusted openpgp.EntityList
	config  *packet.Config
}

func newOpenPGPForm(k Key, now func() time.Time) (signingForm, error) {
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(k.Private))
	if err != nil || len(keys) != 1 || keys[0].PrivateKey == nil {
		return nil, errors.New("the signing key is not one armored private key")
	}
	signer := keys[0]
	if err := signer.DecryptPrivateKeys([]byte(k.Passphrase)); err != nil {
		return nil, errors.New("the signing key cannot be opened with this passphrase")
	}
	if isWeakEntity(signer) {
		return nil, errWeakKey()
	}
	f := &pgpForm{signer: signer, trusted: openpgp.EntityList{signer}, config: &packet.Config{Time: now}}
	if len(bytes.TrimSpace(k.Trusted)) == 0 {
		return f, nil
	}
	trusted, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(k.Trusted))
	if err != nil {
		return nil, errors.New("the trusted signing keys are not armored public keys")
	}
	if slices.ContainsFunc(trusted, isWeakEntity) {
		return nil, errWeakTrustedKey()
	}
	f.trusted = append(f.trusted, trusted...)
	return f, nil
}

// isWeakEntity reports whether a key that may sign for an entity is too weak.
func isWeakEntity(e *openpgp.Entity) bool {
	return isWeakOpenPGPKey(e.PrimaryKey) || slices.ContainsFunc(e.Subkeys, func(k openpgp.Subkey) bool {
		signs := k.Sig != nil && k.Sig.FlagsValid && k.Sig.FlagSign
		return signs && isWeakOpenPGPKey(k.PublicKey)
	})
}

func isWeakOpenPGPKey(k *packet.PublicKey) bool {
	switch k.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly:
		bits, err := k.BitLength()
		return err != nil || bits < minRSABits
	case packet.PubKeyAlgoECDSA, packet.PubKeyAlgoEdDSA, packet.PubKeyAlgoEd25519, packet.PubKeyAlgoEd448:
		return false
	}
	return true
}

func (f *pgpForm) checkUsable() error {
	if _, ok := f.signer.SigningKey(f.config.Now()); !ok {
		return errors.New("the signing key may not sign, or has expired")
	}
	return nil
}

func (f *pgpForm) signContent(content []byte) (string, error) {
	b := &bytes.Buffer{}
	if err := openpgp.ArmoredDetachSign(b, f.signer, bytes.NewReader(content), f.config); err != nil {
		return "", errors.New("the signing key cannot sign")
	}
	return b.String() + "\n", nil
}

func (f *pgpForm) verifyContent(content []byte, signature string) error {
	_, err := openpgp.CheckArmoredDetachedSignature(f.trusted, bytes.NewReader(content), io.LimitReader(strings.NewReader(signature), 1<<20), f.config)
	if err != nil {
		return errors.New("no trusted key signed it")
	}
	return nil
}
