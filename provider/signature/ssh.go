package signature

import (
	"bytes"
	"crypto/rsa"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// namespace is part of the signed content: a signature of a commit is not valid for anything else.
const namespace = "git"

// sshForm signs with an SSH key.
type sshForm struct {
	signer  ssh.Signer
	trusted []ssh.PublicKey
}

func newSSHForm(k Key) (signingForm, error) {
	signer, err := parseSSHKey(k)
	if err != nil {
		return nil, err
	}
	f := &sshForm{signer: signer, trusted: []ssh.PublicKey{signer.PublicKey()}}
	for rest := k.Trusted; len(bytes.TrimSpace(rest)) > 0; {
		var trustedKey ssh.PublicKey
		if trustedKey, _, _, rest, err = ssh.ParseAuthorizedKey(rest); err != nil {
			return nil, errors.New("the trusted signing keys are malformed")
		}
		if isWeakSSHKey(trustedKey) {
			return nil, errWeakTrustedKey()
		}
		f.trusted = append(f.trusted, trustedKey)
	}
	return f, nil
}

func parseSSHKey(k Key) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey([]byte(k.Private))
	var sealed *ssh.PassphraseMissingError
	if errors.As(err, &sealed) {
		signer, err = ssh.ParsePrivateKeyWithPassphrase([]byte(k.Private), []byte(k.Passphrase))
	}
	if err != nil {
		return nil, errors.New("the signing key is malformed, or its passphrase is wrong")
	}
	if isWeakSSHKey(signer.PublicKey()) {
		return nil, errWeakKey()
	}
	return signer, nil
}

// isWeakSSHKey reports whether a key is too weak for its signatures to prove anything.
func isWeakSSHKey(k ssh.PublicKey) bool {
	switch k.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return false
	case ssh.KeyAlgoRSA:
		c, ok := k.(ssh.CryptoPublicKey)
		if !ok {
			return true
		}
		r, ok := c.CryptoPublicKey().(*rsa.PublicKey)
		return !ok || !isRSALength(r.N.BitLen())
	}
	return true
}

// checkUsable returns no error: SSH keys do not expire.
func (f *sshForm) checkUsable() error { return nil }

func (f *sshForm) signContent(content []byte) (string, error) {
	s, err := sshsig.Sign(bytes.NewReader(content), f.signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return "", errors.New("the signing key cannot sign")
	}
	return string(sshsig.Armor(s)), nil
}

func (f *sshForm) verifyContent(content []byte, signature string) error {
	s, err := sshsig.Unarmor([]byte(signature))
	if err != nil {
		return errors.New("it is not signed by an SSH key")
	}
	for _, key := range f.trusted {
		if sshsig.Verify(bytes.NewReader(content), s, key, s.HashAlgorithm, namespace) == nil {
			return nil
		}
	}
	return errors.New("no trusted key signed it")
}
