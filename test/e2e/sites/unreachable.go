package sites

import (
	"net/url"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/wire"
)

// moveBehindWire makes a Site reachable by a wire only.
func (s *stage) moveBehindWire(site string) *wire.Wire {
	s.T.Helper()
	host, err := url.Parse(s.edge.Config.Host)
	s.Must(err)
	w, err := wire.New(s.T.Context(), host.Host)
	s.Must(err)
	s.T.Cleanup(w.Close)
	b, err := os.ReadFile(s.edge.Kubeconfig)
	s.Must(err)
	data := map[string][]byte{"value": []byte(strings.ReplaceAll(string(b), host.Host, w.Address()))}
	name := site + "-kubeconfig"
	s.Must(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name + "-far"}, Data: data}))
	s.Patch(s.NewSite(site), `{"spec":{"cluster":{"kubeconfigSecretRef":{"name":"`+name+`-far"}}}}`)
	return w
}
