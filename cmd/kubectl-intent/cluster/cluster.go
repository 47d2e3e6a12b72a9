// Package cluster reads the objects of Intentplane from an API server, as the user of the command may read them, and creates requests there.
package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // Authentication that kubectl supports in a kubeconfig, such as OIDC, is supported here.
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/inspection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/function/catalog"
)

// Options name the cluster and its user. Each option is the value of kubectl's flag of that name.
type Options struct {
	// Kubeconfig is a file. Empty means the file of KUBECONFIG, or the file in the home directory.
	Kubeconfig string

	// Overrides are the values of flags that take the place of the kubeconfig's: the context, the namespace of deployments and of
	// ProviderConfigs, who acts, and other settings of a connection.
	Overrides clientcmd.ConfigOverrides

	// Timeout of each request. Zero means none.
	Timeout time.Duration
}

// A Cluster is an API server, with the namespace of a command.
type Cluster struct {
	api       *server.Client
	namespace string
}

// Limits of the requests of one command, as kubectl has them: lower limits would delay the commands that read a whole installation.
const (
	requestRate  = 50
	requestBurst = 300
)

// Open returns the cluster that options name. It sends no request. It returns an error for a kubeconfig that cannot be used.
func Open(o Options) (*Cluster, error) {
	c, namespace, err := o.loadKubeconfig()
	if err != nil {
		return nil, err
	}
	api, err := server.Connect(c, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Cluster{api: api, namespace: namespace}, nil
}

// loadKubeconfig returns the connection that options name, without a timeout, and the namespace.
func (o Options) loadKubeconfig() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &o.Overrides)
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", errors.Wrap(err, "cannot use the kubeconfig")
	}
	c, err := loader.ClientConfig()
	if err != nil {
		return nil, "", errors.Wrap(err, "cannot use the kubeconfig")
	}
	c.QPS, c.Burst = requestRate, requestBurst
	// Warnings are about versions of the API that this program chose: the user cannot act on them.
	c.WarningHandlerWithContext = rest.NoWarnings{}
	c.UserAgent = rest.DefaultKubernetesUserAgent()
	// On one machine the compression of an answer takes longer than the answer itself.
	c.DisableCompression = c.DisableCompression || isLocalServer(c)
	return c, namespace, nil
}

// isLocalServer reports whether the API server of a connection is at this machine.
func isLocalServer(c *rest.Config) bool {
	u, _, err := rest.DefaultServerUrlFor(c)
	return err == nil && c.Proxy == nil && policy.IsLoopbackHost(u.Hostname())
}

// Inspector returns the reader of the objects of an installation.
func (c *Cluster) Inspector() inspection.Inspector { return inspection.Inspector{Client: c.api} }

// Namespace that was chosen by options or kubeconfig.
func (c *Cluster) Namespace() string { return c.namespace }

// Answer returns the objects that fulfil a need, as Crossplane would select them: the object of that name, or all objects with those labels.
// A missing object is not an error. It returns an error that names the unreadable object, and the cause.
func (c *Cluster) Answer(ctx context.Context, n catalog.Need) ([]json.RawMessage, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(n.APIVersion, n.Kind))
	resourceClient := c.api.Resource(resource).Namespace(n.Namespace)
	if n.MatchName != "" {
		o, err := resourceClient.Get(ctx, n.MatchName, metav1.GetOptions{})
		if server.IsNotFound(err) {
			return []json.RawMessage{}, nil
		}
		if err != nil {
			return nil, server.DescribeNeedError(err, "get", resource, n.MatchName)
		}
		return encodeObjects(*o)
	}
	list, err := resourceClient.List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(n.MatchLabels).String()})
	if err != nil {
		return nil, server.DescribeNeedError(err, "list", resource, "")
	}
	return encodeObjects(list.Items...)
}

func encodeObjects(objects ...unstructured.Unstructured) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, 0, len(objects))
	for _, o := range objects {
		b, err := o.MarshalJSON()
		if err != nil {
			return nil, errors.Wrapf(err, "cannot encode %s %q", o.GetKind(), o.GetName())
		}
		out = append(out, b)
	}
	return out, nil
}
