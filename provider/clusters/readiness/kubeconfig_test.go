package readiness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKubeconfig(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*Kubeconfig)
		exec    bool
		want    string
		blocked bool
	}{
		"Missing": {
			reason: "A Cluster without a kubeconfig Secret gets no deliveries.",
			change: func(k *Kubeconfig) { k.Missing = ReasonObjectMissing }, want: "False/KubeconfigMissing", blocked: true,
		},
		"Denied": {
			reason: "The state of a kubeconfig that the provider may not read is unknown.",
			change: func(k *Kubeconfig) { k.Missing = ReasonAccessDenied }, want: "Unknown/AccessDenied", blocked: true,
		},
		"WrongType": {
			reason: "A Secret of another type than Cluster API's is invalid.",
			change: func(k *Kubeconfig) { k.Type = "Opaque" }, want: "False/KubeconfigInvalid", blocked: true,
		},
		"WrongLabel": {
			reason: "A Secret that is labelled for another Cluster is invalid.",
			change: func(k *Kubeconfig) { k.Cluster = "c2" }, want: "False/KubeconfigInvalid", blocked: true,
		},
		"Empty": {
			reason: "A kubeconfig Secret without data is reported as empty, since CAPT copies an empty Secret.",
			change: func(k *Kubeconfig) { k.Data = nil }, want: "False/KubeconfigEmpty", blocked: true,
		},
		"Refused": {
			reason: "A kubeconfig that cannot be parsed is refused.",
			change: func(k *Kubeconfig) { k.Refused = "the kubeconfig cannot be parsed" }, want: "False/KubeconfigRefused", blocked: true,
		},
		"Program": {
			reason: "A kubeconfig that runs a program is refused.",
			change: func(k *Kubeconfig) { k.Refused, k.Program = "no", true }, want: "False/KubeconfigRefused", blocked: true,
		},
		"Allowed": {
			reason: "A kubeconfig that runs a program counts as good where that is allowed.",
			change: func(k *Kubeconfig) { k.Refused, k.Program, k.Answer = "no", true, Answer{} }, exec: true, want: "True/KubeconfigNotAsked",
		},
		"AllowedElse": {
			reason: "A kubeconfig that is refused for another reason stays refused where programs are allowed.",
			change: func(k *Kubeconfig) { k.Refused = "no" }, exec: true, want: "False/KubeconfigRefused", blocked: true,
		},
		"Expired": {
			reason: "A kubeconfig is expired from the second in which its credentials end.",
			change: func(k *Kubeconfig) { k.NotAfter = noon() }, want: "False/KubeconfigExpired", blocked: true,
		},
		"Expiring": {
			reason: "Credentials that have not expired yet are good.",
			change: func(k *Kubeconfig) { k.NotAfter = noon().Add(time.Second) }, want: "True/Answers",
		},
		"NotAsked": {
			reason: "The state of a kubeconfig is unknown before its API server was asked.",
			change: func(k *Kubeconfig) { k.Answer = Answer{} }, want: "Unknown/ServerUnreachable", blocked: true,
		},
		"Silent": {
			reason: "An API server that does not answer blocks deliveries.",
			change: func(k *Kubeconfig) { k.Answer.Reason = ReasonServerUnreachable }, want: "False/ServerUnreachable", blocked: true,
		},
		"Unready": {
			reason: "An API server that answers that it is not ready blocks deliveries.",
			change: func(k *Kubeconfig) { k.Answer.Reason = ReasonServerNotReady }, want: "False/ServerNotReady", blocked: true,
		},
		"WrongToken": {
			reason: "An API server that denies the kubeconfig's credentials blocks deliveries.",
			change: func(k *Kubeconfig) { k.Answer.Reason = ReasonKubeconfigDenied }, want: "False/KubeconfigDenied", blocked: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := good(V1Beta2, V1Beta2)
			tc.change(&in.Kubeconfig)
			in.Options.AllowExec = tc.exec
			r := Read(in)
			c := r.Condition(TypeKubeconfigReady)
			if diff := cmp.Diff(tc.want, string(c.Status)+"/"+c.Reason); diff != "" || r.Deliverable() == tc.blocked || c.By.Name != "c1-kubeconfig" {
				t.Errorf("\n%s\nRead(): deliverable %t, %s, -want, +got:\n%s", tc.reason, r.Deliverable(), conditionLine(c), diff)
			}
		})
	}
}

func TestExpires(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: noon().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	encoded := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	token := func(expiry time.Time) string {
		return encoded(`{"alg":"RS256","typ":"JWT"}`) + "." + encoded(fmt.Sprintf(`{"exp":%d}`, expiry.Unix())) + "." + encoded("signature")
	}
	cases := map[string]struct {
		reason      string
		certificate []byte
		token       string
		want        time.Time
	}{
		"Certificate": {reason: "The client certificate says when it expires.", certificate: certificate, want: noon().Add(time.Hour)},
		"Token":       {reason: "A token says when it expires.", token: token(noon()), want: noon()},
		"First":       {reason: "The earlier end counts when it is the token's.", certificate: certificate, token: token(noon()), want: noon()},
		"FirstIsCert": {
			reason:      "The earlier end counts when it is the certificate's.",
			certificate: certificate, token: token(noon().Add(2 * time.Hour)), want: noon().Add(time.Hour),
		},
		"Opaque": {reason: "The end of a token that is not a JWT is unknown.", token: "abcdef"},
		"NoEnd":  {reason: "A token without an expiry does not expire.", token: encoded(`{"alg":"RS256"}`) + "." + encoded(`{}`) + ".x"},
		"Junk":   {reason: "The end of a malformed certificate is unknown.", certificate: []byte("junk")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Expires(tc.certificate, tc.token); !got.Equal(tc.want) {
				t.Errorf("\n%s\nExpires(): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
