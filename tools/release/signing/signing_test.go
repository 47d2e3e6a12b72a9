package signing

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/signature"
	"github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/tools/release/sigstore"
	"github.com/intentplane/intentplane/tools/release/statement"
)

// A verifier is Crossplane's own verification of signatures, which trusts a played transparency log.
type verifier struct {
	*signature.CosignValidator

	log *httptest.Server
}

// A secretReader reads one Secret.
type secretReader struct {
	client.Reader

	data map[string][]byte
}

func (r secretReader) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.(*corev1.Secret).Data = r.data //nolint:forcetypeassert // Crossplane reads no other kind.
	return nil
}

func newVerifier(t *testing.T, keys map[string][]byte) *verifier {
	t.Helper()
	t.Setenv("TUF_ROOT", t.TempDir())
	l, err := sigstore.NewLog(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := sigstore.Trust(t.Context(), l.PublicKey, time.Now()); err != nil {
		t.Fatal(err)
	}
	accounts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}})
	}))
	t.Cleanup(accounts.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: accounts.URL})
	if err != nil {
		t.Fatal(err)
	}
	validator, err := signature.NewCosignValidator(secretReader{data: keys}, clients, "crossplane-system", "crossplane")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	return &verifier{CosignValidator: validator, log: s}
}

// verify returns Crossplane's verdict about a manifest, by a key and, unless they are empty, attestations.
func (v *verifier) verify(t *testing.T, digest name.Digest, key string, predicates ...string) error {
	t.Helper()
	secret := v1beta1.LocalSecretKeySelector{Key: key}
	secret.Name = "intentplane-release-key"
	authority := v1beta1.CosignAuthority{Name: "intentplane", Key: &v1beta1.KeyRef{SecretRef: secret, HashAlgorithm: "sha256"}}
	for _, p := range predicates {
		authority.Attestations = append(authority.Attestations, v1beta1.Attestation{Name: p, PredicateType: p})
	}
	return v.Validate(t.Context(), digest, &v1beta1.ImageVerification{
		Provider: v1beta1.ImageVerificationProviderCosign,
		Cosign:   &v1beta1.CosignVerificationConfig{Authorities: []v1beta1.CosignAuthority{authority}},
	})
}

// writeKey writes a private key as PEM into a file.
func writeKey(t *testing.T, private any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, cryptoutils.PEMEncode(cryptoutils.PrivateKeyPEMType, der))
}

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func newKey(t *testing.T) *Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ReadKey(writeKey(t, private), nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openLog(t *testing.T, s *httptest.Server) *Log {
	t.Helper()
	l, err := OpenLog(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A scene is a registry with an image.
type scene struct {
	repository name.Repository
	digest     v1.Hash
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	repository, err := name.NewRepository(strings.TrimPrefix(s.URL, "http://") + "/intentplane/function-intentplane")
	if err != nil {
		t.Fatal(err)
	}
	out := &scene{repository: repository}
	out.digest = out.pushRandom(t)
	return out
}

// pushRandom pushes an image with other content than each image before it.
func (s *scene) pushRandom(t *testing.T) v1.Hash {
	t.Helper()
	img, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, "v0.1.0", img)
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (s *scene) push(t *testing.T, tag string, img v1.Image) {
	t.Helper()
	if err := remote.Write(s.repository.Tag(tag), img); err != nil {
		t.Fatal(err)
	}
}

// sign pushes a signature of a digest to the tag of another one.
func (s *scene) sign(t *testing.T, signer Signer, signed, tagged v1.Hash) {
	t.Helper()
	img, err := signer.SignManifest(t.Context(), s.repository, signed)
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, SignatureTag(tagged), img)
}

// TestCrossplaneVerifiesSignatures asks the code of Crossplane that decides whether a package is installed.
func TestCrossplaneVerifiesSignatures(t *testing.T) {
	key, foreign := newKey(t), newKey(t)
	v := newVerifier(t, map[string][]byte{"cosign.pub": key.Public})
	untrusted, err := sigstore.NewLog(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	untrustedLog := httptest.NewServer(untrusted)
	defer untrustedLog.Close()
	cases := map[string]struct {
		reason string
		signer Signer
		// change makes another image of the signed one. It returns the digest that is installed, which has the signature of the first digest.
		change func(*testing.T, *scene) v1.Hash
		want   string
	}{
		"Signed":     {reason: "Crossplane accepts a signature of its key in a log that it trusts.", signer: Signer{Key: key, Log: openLog(t, v.log)}},
		"ForeignKey": {reason: "A signature of another key is refused.", signer: Signer{Key: foreign, Log: openLog(t, v.log)}, want: "comparing public key PEMs"},
		"NoLog":      {reason: "A signature without an entry of a log is refused.", signer: Signer{Key: key}, want: "rekor client not provided"},
		"UntrustedLog": {
			reason: "An entry of a log that Crossplane does not trust is refused.",
			signer: Signer{Key: key, Log: openLog(t, untrustedLog)}, want: "public key not found",
		},
		"Changed": {
			reason: "An image with one changed byte is refused, although it has the signature of the original.", signer: Signer{Key: key, Log: openLog(t, v.log)},
			change: func(t *testing.T, s *scene) v1.Hash { t.Helper(); return s.pushRandom(t) }, want: "invalid or missing digest in claim",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			installed := s.digest
			if tc.change != nil {
				installed = tc.change(t, s)
			}
			s.sign(t, tc.signer, s.digest, installed)
			message := ""
			if err := v.verify(t, s.repository.Digest(installed.String()), "cosign.pub"); err != nil {
				message = err.Error()
			}
			if (message == "") != (tc.want == "") || !strings.Contains(message, tc.want) {
				t.Errorf("\n%s\nValidate(...): want %q, got %q", tc.reason, tc.want, message)
			}
		})
	}
	t.Run("Unsigned", func(t *testing.T) {
		s := newScene(t)
		if err := v.verify(t, s.repository.Digest(s.digest.String()), "cosign.pub"); err == nil {
			t.Error("A package without a signature is refused.")
		}
	})
	t.Run("Attestations", func(t *testing.T) { testAttestations(t, v, key) })
}

// testAttestations attaches provenance and a list of content to an image.
func testAttestations(t *testing.T, v *verifier, key *Key) {
	t.Helper()
	s := newScene(t)
	subjects := []statement.Subject{{Name: s.repository.Name(), SHA256: s.digest.Hex}}
	provenance, err := statement.Build{Version: "v0.1.0", Commit: strings.Repeat("a", 40), Go: "go1.26.0", Builder: "https://example.org"}.Describe(subjects)
	if err != nil {
		t.Fatal(err)
	}
	content, err := statement.ListContent([]byte(`{"spdxVersion":"SPDX-2.3"}`), subjects)
	if err != nil {
		t.Fatal(err)
	}
	attestations, err := Signer{Key: key, Log: openLog(t, v.log)}.Attest(t.Context(), []Attestation{
		{Predicate: statement.Provenance, Statement: provenance}, {Predicate: statement.SPDX, Statement: content},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, AttestationTag(s.digest), attestations)
	digest := s.repository.Digest(s.digest.String())
	for _, predicate := range []string{"slsaprovenance1", "spdxjson"} {
		if err := v.verify(t, digest, "cosign.pub", predicate); err != nil {
			t.Errorf("Crossplane accepts the attestation %s: %v", predicate, err)
		}
	}
	if err := v.verify(t, digest, "cosign.pub", "vuln"); err == nil {
		t.Error("Crossplane does not find an attestation that was not made.")
	}
	other := s.pushRandom(t)
	s.push(t, AttestationTag(other), attestations)
	if err := v.verify(t, s.repository.Digest(other.String()), "cosign.pub", "spdxjson"); err == nil {
		t.Error("Crossplane refuses an attestation about another image.")
	}
}

func TestReadKey(t *testing.T) {
	encrypted, err := cosign.GenerateKeyPair(func(bool) ([]byte, error) { return []byte("a password"), nil })
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		file     string
		password string
		want     string
	}{
		"Encrypted": {reason: "A key of cosign is opened by its password.", file: writeFile(t, encrypted.PrivateBytes), password: "a password"},
		"WrongPassword": {
			reason: "A wrong password is refused, and the variable is named.",
			file:   writeFile(t, encrypted.PrivateBytes), password: "secret", want: "COSIGN_PASSWORD",
		},
		"Edwards": {reason: "A key that Crossplane cannot find in a log is refused.", file: writeKey(t, edwards), want: "want an ECDSA or RSA key"},
		"NoKey":   {reason: "A file that is no key is refused.", file: writeFile(t, []byte("no key")), want: "cannot read key"},
		"NoFile":  {reason: "A key that does not exist is refused.", file: filepath.Join(t.TempDir(), "key"), want: "cannot read the key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ReadKey(tc.file, []byte(tc.password))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nReadKey(...): want %q, got %v", tc.reason, tc.want, err)
			}
			if err != nil && tc.password != "" && strings.Contains(err.Error(), tc.password) {
				t.Errorf("\n%s\nReadKey(...): the error has the password: %v", tc.reason, err)
			}
		})
	}
}

// TestSignFile verifies the signature of a file with the library of Go.
func TestSignFile(t *testing.T) {
	key, text := newKey(t), []byte("01  install.yaml\n")
	encoded, err := key.SignFile(text)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	public, err := cosign.PemToECDSAKey(key.Public)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(text)
	if !ecdsa.VerifyASN1(public, digest[:], raw) {
		t.Error("The signature is of the text's SHA-256 digest, by the key.")
	}
}
