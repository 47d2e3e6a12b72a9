package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestParseYAML(t *testing.T) {
	cases := map[string]struct {
		reason  string
		stream  string
		want    []string
		wantErr bool
	}{
		"Empty":     {reason: "Nothing should be no object.", stream: ""},
		"Comments":  {reason: "A document of comments alone should be no object.", stream: "# one\n---\n# two\n"},
		"Several":   {reason: "Every document should be an object.", stream: "---\nkind: A\n---\nkind: B\n", want: []string{"A", "B"}},
		"Malformed": {reason: "What is not YAML should be refused.", stream: "a: [", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := ParseYAML([]byte(tc.stream))
			if diff := cmp.Diff(tc.wantErr, err != nil); diff != "" {
				t.Fatalf("\n%s\nParseYAML(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			var kinds []string
			for _, u := range objects {
				kinds = append(kinds, u.GetKind())
			}
			if diff := cmp.Diff(tc.want, kinds); diff != "" {
				t.Errorf("\n%s\nParseYAML(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestChart(t *testing.T) {
	objects, err := ParseYAML(crossplaneRBAC)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range objects {
		if u.GetName() == "" || u.GetAPIVersion() != "rbac.authorization.k8s.io/v1" {
			t.Errorf("%s %q should be a named object of RBAC", u.GetKind(), u.GetName())
		}
	}
}

func xrd(claims bool, conditions ...any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
	u.SetName("x")
	if claims {
		u.Object["spec"] = map[string]any{"claimNames": map[string]any{"kind": "X"}}
	}
	return u
}

func TestComplaints(t *testing.T) {
	established := map[string]any{"type": "Established", "status": "True"}
	refused := map[string]any{"type": "Established", "status": "False", "reason": "TooExpensive", "message": "rule"}
	cases := map[string]struct {
		reason string
		xrd    *unstructured.Unstructured
		want   []string
	}{
		"Composite": {reason: "An XRD without a claim need not be offered.", xrd: xrd(false, established)},
		"Claim":     {reason: "An XRD with a claim should be offered.", xrd: xrd(true, established), want: []string{"XRD x is not Offered:  "}},
		"Silent":    {reason: "A condition without a message does not count as met.", xrd: xrd(false), want: []string{"XRD x is not Established:  "}},
		"Refused":   {reason: "The reason should be told.", xrd: xrd(false, refused), want: []string{"XRD x is not Established: TooExpensive rule"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := expectation{kind: "XRD", conditions: expectUsable}.falseConditions(tc.xrd)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncomplaints(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSignServer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	caKey, err := privatePEM(key)
	if err != nil {
		t.Fatal(err)
	}
	caCert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})

	cert, _, err := signServer(caCert, caKey)
	if err != nil {
		t.Fatalf("signServer(...): %v", err)
	}
	block, _ := pem.Decode(cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caCert)
	for _, host := range []string{"localhost", "127.0.0.1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("certificate should be good for %s: %v", host, err)
		}
	}
}
