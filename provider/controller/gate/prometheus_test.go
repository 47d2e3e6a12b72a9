package gate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
)

// An authority is a certificate of a server, and the same certificate in PEM for its clients.
type authority struct {
	cert tls.Certificate
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{
		cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
}

// A vault is a Prometheus server that answers requests with an accepted Authorization header, and remembers each header.
type vault struct {
	*httptest.Server

	// denied gets an item for each refused query.
	denied chan struct{}

	mu    sync.Mutex
	cert  tls.Certificate
	admit []string
	shown map[string]string
}

func newVault(t *testing.T, a *authority, admit ...string) *vault {
	t.Helper()
	v := &vault{denied: make(chan struct{}, 1000), shown: map[string]string{}}
	v.rotate(a, admit...)
	v.Server = httptest.NewUnstartedServer(v)
	// The TLS config returns the current certificate, also to clients without SNI.
	v.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		return &tls.Config{Certificates: []tls.Certificate{v.cert}, MinVersion: tls.VersionTLS12}, nil
	}, MinVersion: tls.VersionTLS12}
	v.StartTLS()
	t.Cleanup(v.Close)
	return v
}

// rotate the certificate, and whom to admit.
func (v *vault) rotate(a *authority, admit ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cert, v.admit = a.cert, admit
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	v.mu.Lock()
	defer v.mu.Unlock()
	auth := r.Header.Get("Authorization")
	v.shown[r.Form.Get("query")] = auth
	if slices.Contains(v.admit, auth) {
		now := float64(time.Now().UnixMilli()) / 1000
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[%f,"0"]}]}}`, now)
		return
	}
	v.denied <- struct{}{}
	w.WriteHeader(http.StatusUnauthorized)
}

// was returns the Authorization header of a query.
func (v *vault) was(query string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown[query]
}

const (
	bearerCanary = "Bearer c4n4ry"
	basicCanary  = "Basic cHJvbTpjNG40cnk=" // prom:c4n4ry

	noSecret = "the Secret with the credentials of the Prometheus server, or a key of it, does not exist"
)

// A metricsCase is the content of the Secrets for a Prometheus server, and the result of a check at that server.
type metricsCase struct {
	reason string
	// credentials and ca are the content of the Secret of the credentials and of the Secret of the certificates. A nil map means that
	// the Secret does not exist, and none that the spec does not name it.
	credentials, ca map[string]string
	none            string
	want            v1alpha1.CheckPhase
	message         string
	shown           string
}

func metricsCases(good, otherCA []byte) map[string]metricsCase {
	ca, token := map[string]string{"ca.crt": string(good)}, map[string]string{"token": "c4n4ry"}
	passed, failed := v1alpha1.CheckPassed, v1alpha1.CheckRunning
	return map[string]metricsCase{
		"token": {reason: "A token is sent to the server.", credentials: token, ca: ca, want: passed, shown: bearerCanary},
		"basic": {
			reason:      "A name and a password are sent to the server.",
			credentials: map[string]string{"username": "prom", "password": "c4n4ry"}, ca: ca, want: passed, shown: basicCanary,
		},
		"wrong": {
			reason:      "A server does not accept wrong credentials.",
			credentials: map[string]string{"token": "c4n4ry2"}, ca: ca, want: failed,
			message: "the server does not accept the credentials: status 401 Unauthorized", shown: "Bearer c4n4ry2",
		},
		"bare": {
			reason: "A server does not accept a request without credentials.",
			none:   "credentials", ca: ca, want: failed, message: "the server does not accept the credentials: status 401 Unauthorized",
		},
		"otherca": {
			reason:      "A server of another authority gets no credentials.",
			credentials: token, ca: map[string]string{"ca.crt": string(otherCA)}, want: failed, message: "the server's certificate is not trusted",
		},
		"systemca": {
			reason:      "A server that the system does not trust gets no credentials.",
			credentials: token, none: "ca", want: failed, message: "the server's certificate is not trusted",
		},
		"badca": {
			reason:      "A bundle without certificates trusts no server.",
			credentials: token, ca: map[string]string{"ca.crt": "c4n4ry"}, want: failed, message: "the server's certificate is not trusted",
		},
		"gone": {reason: "Without its credentials a server is not asked.", ca: ca, want: failed, message: noSecret},
		"keygone": {
			reason:      "A server is not asked with a name and no password.",
			credentials: map[string]string{"username": "prom"}, ca: ca, want: failed, message: noSecret,
		},
		"cagone": {reason: "A server is not asked without the certificates to trust.", credentials: token, want: failed, message: noSecret},
		"cakey": {
			reason:      "Certificates under another key of the Secret do not count.",
			credentials: token, ca: map[string]string{"tls.crt": string(good)}, want: failed, message: noSecret,
		},
	}
}

// sources are the places that may name a Prometheus server.
func sources() []string { return []string{"site", "cluster", "own"} }

// name the Secrets of a case for a Prometheus server of a Site or of a configuration. Each has its own Secrets.
func (w *world) metrics(source, name, address string, tc metricsCase) {
	w.Helper()
	key := types.NamespacedName{Namespace: "admin", Name: source + "-" + name}
	if source == "own" {
		key.Namespace = "team-a"
	}
	for suffix, data := range map[string]map[string]string{"": tc.credentials, "-ca": tc.ca} {
		if data != nil {
			w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + suffix}, Data: bytesOf(data)}))
		}
	}
	p := &configv1alpha1.Prometheus{Address: address}
	if tc.none != "credentials" {
		p.SecretRef = &configv1alpha1.SecretReference{Namespace: key.Namespace, Name: key.Name}
	}
	if tc.none != "ca" {
		p.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Namespace: key.Namespace, Name: key.Name + "-ca"}, Key: "ca.crt"}
	}
	w.publish(source, key.Name, p)
}

// publish a Site with the name, and a configuration of the same name, of which one has the server.
func (w *world) publish(source, name string, p *configv1alpha1.Prometheus) {
	w.Helper()
	s := site("")
	s.ObjectMeta, s.Spec.Metrics = metav1.ObjectMeta{Name: name}, nil
	spec := configv1alpha1.ProviderConfigSpec{Metrics: &configv1alpha1.Metrics{Prometheus: p}}
	if source == "site" {
		s.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: endpointOf(p)}
		spec.Metrics = nil
	}
	w.must(w.kube.Create(w.Context(), s))
	if source == "own" {
		s.Spec.Metrics = &catalogv1alpha1.SiteMetrics{AllowedHosts: []string{strings.TrimPrefix(p.Address, "https://")}}
		w.must(w.kube.Update(w.Context(), s))
		w.must(w.kube.Create(w.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Spec: spec}))
		return
	}
	w.must(w.kube.Create(w.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}))
}

// endpointOf a Site is the same as that of a configuration, in the words of a Site.
func endpointOf(p *configv1alpha1.Prometheus) *catalogv1alpha1.PrometheusEndpoint {
	out := &catalogv1alpha1.PrometheusEndpoint{Address: p.Address}
	if r := p.SecretRef; r != nil {
		out.SecretRef = &catalogv1alpha1.NamespacedSecretReference{Namespace: r.Namespace, Name: r.Name}
	}
	if r := p.CABundleSecretRef; r != nil {
		out.CABundleSecretRef = &catalogv1alpha1.NamespacedSecretKeyReference{
			NamespacedSecretReference: catalogv1alpha1.NamespacedSecretReference{Namespace: r.Namespace, Name: r.Name}, Key: r.Key,
		}
	}
	return out
}

func bytesOf(data map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range data {
		out[k] = []byte(v)
	}
	return out
}

// queryOf a check is unique, so that the server can tell the checks apart.
func queryOf(name string) string {
	return "sum(rate(" + strings.ReplaceAll(name, "-", "_") + "_total[10s]))"
}

// metricsCheck is asked of the Site with the name, under the configuration with the same.
func metricsCheck(source, name string) v1alpha1.GateCheck {
	c := quick(name)
	c.Site, c.Prometheus.Query, c.ConsecutiveErrorLimit = name, queryOf(name), new(int32(0))
	c.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: name}
	if source == "own" {
		c.ProviderConfigReference.Kind = policy.KindProviderConfig
	}
	return c
}

// live says that the order is live at a Site, too.
func (w *world) live(site string) {
	w.Helper()
	w.edit(func(s *deliveryv1alpha1.SiteSync) {
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{
			Name: site, State: deliveryv1alpha1.SiteLive, LiveSince: instant.Timestamp(time.Now().Add(-time.Minute)),
		})
	})
}

// TestMetricsCredentials has all cases of a Prometheus server, from each source that may name the server, in one Gate.
func TestMetricsCredentials(t *testing.T) {
	good, otherCA := newAuthority(t), newAuthority(t)
	v := newVault(t, good, bearerCanary, basicCanary)
	cases, checks := metricsCases(good.pem, otherCA.pem), []v1alpha1.GateCheck{}
	for _, source := range sources() {
		for name := range cases {
			checks = append(checks, metricsCheck(source, source+"-"+name))
		}
	}
	w := newWorld(t, checks...)
	for _, source := range sources() {
		for name, tc := range cases {
			w.metrics(source, name, v.URL, tc)
			w.live(source + "-" + name)
		}
	}
	w.when("every check passed, or is held", func() bool {
		return !slices.ContainsFunc(w.get().Status.AtProvider.Checks, func(r v1alpha1.CheckResult) bool {
			return r.Phase != v1alpha1.CheckPassed && r.UnavailableSince == nil
		})
	})
	for _, r := range w.get().Status.AtProvider.Checks {
		t.Run(r.Name, func(t *testing.T) {
			_, name, _ := strings.Cut(r.Name, "-")
			tc := cases[name]
			if tc.message != "" {
				tc.message += " (" + v.URL + ")" // Every one of them is an outage, whose server has to be found.
			}
			if diff := cmp.Diff([]string{string(tc.want), tc.message, tc.shown}, []string{string(r.Phase), r.Message, v.was(queryOf(r.Name))}); diff != "" {
				t.Errorf("%s\nphase, message, and header at the server: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	w.keepsSecrets()
}

// keepsSecrets is so if the Gate shows none.
func (w *world) keepsSecrets() {
	w.Helper()
	all, err := json.Marshal(w.get())
	w.must(err)
	if strings.Contains(string(all), "c4n4ry") {
		w.Errorf("the Gate shows a secret:\n%s", all)
	}
}

// TestMetricsRotate changes certificate and token of a server while a check goes on, and then the Secrets.
func TestMetricsRotate(t *testing.T) {
	t.Parallel()
	for _, source := range sources() {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			oldAuthority, nextAuthority := newAuthority(t), newAuthority(t)
			v := newVault(t, oldAuthority, "Bearer c4n4ry-2")
			c := metricsCheck(source, source+"-rotates")
			c.ConsecutiveErrorLimit, c.Timeout = new(int32(100_000)), "24h"
			w := newWorld(t, c)
			w.metrics(source, "rotates", v.URL, metricsCase{credentials: map[string]string{"token": "c4n4ry-1"}, ca: map[string]string{"ca.crt": string(oldAuthority.pem)}})
			w.live(source + "-rotates")
			w.reconcile()
			select {
			case <-v.denied: // The query used credentials that the server accepts no longer.
			case <-time.After(5 * time.Minute):
				t.Fatal("the server is not asked")
			}
			v.rotate(nextAuthority, "Bearer c4n4ry-2")
			w.refill(source, map[string]string{"token": "c4n4ry-2"}, map[string]string{"ca.crt": string(nextAuthority.pem)})
			w.until("Passed/Passed/Passed")
			if diff := cmp.Diff("Bearer c4n4ry-2", v.was(queryOf(c.Name))); diff != "" {
				t.Errorf("headers at the server: -want, +got:\n%s", diff)
			}
			w.keepsSecrets()
		})
	}
}

// refill the Secrets of the check that rotates.
func (w *world) refill(source string, credentials, ca map[string]string) {
	w.Helper()
	key := types.NamespacedName{Namespace: "admin", Name: source + "-rotates"}
	if source == "own" {
		key.Namespace = "team-a"
	}
	for suffix, data := range map[string]map[string]string{"": credentials, "-ca": ca} {
		s := &corev1.Secret{}
		w.must(w.kube.Get(w.Context(), types.NamespacedName{Namespace: key.Namespace, Name: key.Name + suffix}, s))
		s.Data = bytesOf(data)
		w.must(w.kube.Update(w.Context(), s))
	}
}
