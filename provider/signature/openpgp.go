package signature

import (
	"bytes"
	"io"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// pgpForm signs with an OpenPGP key.
type pgpForm struct {
	signer  *openpgp.Entity
	trusted openpgp.EntityList
}

func newOpenPGP(k Key) (form, error) {
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(k.Private))
	if err != nil || len(keys) != 1 || keys[0].PrivateKey == nil {
		return nil, errors.New("the signing key is not one armored private key")
	}
	signer := keys[0]
	if err := signer.DecryptPrivateKeys([]byte(k.Passphrase)); err != nil {
		return nil, errors.New("the signing key cannot be opened with this passphrase")
	}
	f := &pgpForm{signer: signer, trusted: openpgp.EntityList{signer}}
	if len(bytes.TrimSpace(k.Trusted)) == 0 {
		return f, nil
	}
	others, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(k.Trusted))
	if err != nil {
		return nil, errors.New("the trusted signing keys are not armored public keys")
	}
	f.trusted = append(f.trusted, others...)
	return f, nil
}

func (f *pgpForm) sign(content []byte) (string, error) {
	b := &bytes.Buffer{}
	if err := openpgp.ArmoredDetachSign(b, f.signer, bytes.NewReader(content), nil); err != nil {
		return "", errors.New("the signing key cannot sign")
	}
	return b.String() + "\n", nil
}

func (f *pgpForm) verify(content []byte, signature string) error {
	_, err := openpgp.CheckArmoredDetachedSignature(f.trusted, bytes.NewReader(content), io.LimitReader(strings.NewReader(signature), 1<<20), nil)
	if err != nil {
		return errors.New("it is not signed by a key that is trusted")
	}
	return nil
}
