package signature

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/ProtonMail/go-crypto/openpgp/s2k"
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
	if err := checkPassphraseCost(signer); err != nil {
		return nil, err
	}
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

// maxPrivateKeys is the maximum number of private keys in a signing key. Each of them may need a derivation of its own from the passphrase, of half a second.
const maxPrivateKeys = 8

// checkPassphraseCost returns an error for a signing key whose passphrase may take much time or memory: a tenant who writes the key chooses the cost, and Argon2
// has room for two TiB.
func checkPassphraseCost(signer *openpgp.Entity) error {
	private := []*packet.PrivateKey{signer.PrivateKey}
	for i := range signer.Subkeys {
		if k := signer.Subkeys[i].PrivateKey; k != nil {
			private = append(private, k)
		}
	}
	if len(private) > maxPrivateKeys {
		return errors.Errorf("the signing key has more than %d private keys: export a key with one signing key", maxPrivateKeys)
	}
	if slices.ContainsFunc(private, mayUseArgon2) {
		return errors.New("the passphrase of the signing key is protected by Argon2, which may take any memory: protect it as gpg does, by an iterated hash")
	}
	return nil
}

// mayUseArgon2 reports whether a key is derived from its passphrase by Argon2. The library keeps the method in a private field: without the field the answer is
// true, so that no later version is open by mistake.
func mayUseArgon2(k *packet.PrivateKey) bool {
	if !k.Encrypted {
		return false
	}
	params := reflect.Indirect(reflect.ValueOf(k).Elem().FieldByName("s2kParams"))
	if params.Kind() != reflect.Struct {
		return true
	}
	mode := params.FieldByName("mode")
	return !mode.CanUint() || mode.Uint() == uint64(s2k.Argon2S2K)
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
		return err != nil || !isRSALength(int(bits))
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
