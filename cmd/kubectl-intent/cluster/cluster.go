// Package cluster reads our objects from an API server, as the person who runs the command may read them, and makes RolloutRequests there.
package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // Authentication that kubectl supports in a kubeconfig, such as OIDC, is supported here.
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

// Options say which cluster, and as whom. Each is the value of kubectl's flag of that name.
type Options struct {
	// Kubeconfig is a file. Empty means the file of KUBECONFIG, or the file in the home directory.
	Kubeconfig string

	// Overrides are the values of flags that take the place of the kubeconfig's: the context, the namespace of deployments and of
	// ProviderConfigs, who acts, and other settings of a connection.
	Overrides clientcmd.ConfigOverrides

	// Timeout of each request. Zero means none.
	Timeout time.Duration
}

// A Cluster is an API server.
type Cluster struct {
	client dynamic.Interface

	// watcher is a client whose requests last for as long as they are wanted.
	watcher   dynamic.Interface
	namespace string

	// logs has the core group, and requests that last for as long as they are wanted.
	logs rest.Interface

	// lists objects without decoding them. Nil lists them by client.
	lists rest.Interface

	// server answers about itself.
	server discovery.ServerVersionInterface
}

// How many requests a second one command may make, as kubectl's may. Less would let a look at an installation wait for itself.
const (
	requestRate  = 50
	requestBurst = 300
)

// Open returns the cluster that options name. It asks nothing yet. It returns an error for a kubeconfig that cannot be used.
func Open(o Options) (*Cluster, error) {
	c, namespace, err := o.loadConfig()
	if err != nil {
		return nil, err
	}
	watcher, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the kubeconfig")
	}
	logs, err := newCoreClient(c)
	if err != nil {
		return nil, err
	}
	c.Timeout = o.Timeout
	client, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the kubeconfig")
	}
	lists, err := newListClient(c)
	if err != nil {
		return nil, err
	}
	server, err := discovery.NewDiscoveryClientForConfig(c)
	return &Cluster{client: client, watcher: watcher, logs: logs, lists: lists, namespace: namespace, server: server}, errors.Wrap(err, "cannot use the kubeconfig")
}

// loadConfig returns the connection that options name, without a timeout, and the namespace.
func (o Options) loadConfig() (*rest.Config, string, error) {
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
	c.DisableCompression = c.DisableCompression || isLocal(c)
	return c, namespace, nil
}

// isLocal reports whether the API server of a connection is at this machine.
func isLocal(c *rest.Config) bool {
	u, _, err := rest.DefaultServerUrlFor(c)
	return err == nil && c.Proxy == nil && policy.IsLoopbackHost(u.Hostname())
}

// Namespace that was chosen by options or kubeconfig.
func (c *Cluster) Namespace() string { return c.namespace }

// Answer returns the objects that fulfil a need, as Crossplane would select them: the object of that name, or all objects with those labels.
// A missing object is not an error. It returns an error that names the unreadable object, and the cause.
func (c *Cluster) Answer(ctx context.Context, n catalog.Need) ([]json.RawMessage, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(n.APIVersion, n.Kind))
	resourceClient := c.client.Resource(resource).Namespace(n.Namespace)
	if n.MatchName != "" {
		o, err := resourceClient.Get(ctx, n.MatchName, metav1.GetOptions{})
		if isNotFound(err) {
			return []json.RawMessage{}, nil
		}
		if err != nil {
			return nil, describeNeedError(err, "get", resource, n.MatchName)
		}
		return encodeObjects(*o)
	}
	list, err := resourceClient.List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(n.MatchLabels).String()})
	if err != nil {
		return nil, describeNeedError(err, "list", resource, "")
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

// isNotFound is true for an object that does not exist, of a kind that does.
func isNotFound(err error) bool { return kerrors.IsNotFound(err) && !unknownKind(err) }

// unknownKind is true for a kind that the server does not serve: its 404 is not about an object.
func unknownKind(err error) bool {
	return kerrors.IsNotFound(err) && kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// describeError adds the remedy of a person to an error.
func describeError(err error, verb string, resource schema.GroupVersionResource, name string) error {
	return describeErrorWith(err, verb, resource, name, "")
}

// describeNeedError does the same for an object that a command also takes from files.
func describeNeedError(err error, verb string, resource schema.GroupVersionResource, name string) error {
	return describeErrorWith(err, verb, resource, name, ", or give the object in a file")
}

// describeErrorWith adds the remedy of a person to an error, and for a missing right an alternative to it, which may be empty.
func describeErrorWith(err error, verb string, resource schema.GroupVersionResource, name, alternative string) error {
	subject, objectPronoun := resource.GroupResource().String(), "them"
	if name != "" {
		subject, objectPronoun = subject+"/"+name, "it"
	}
	switch {
	case unknownKind(err):
		return errors.Errorf("cannot %s %s: the cluster does not have %s in version %s: is Intentplane installed there?", verb, subject, resource.GroupResource(), resource.Version)
	case kerrors.IsForbidden(err), kerrors.IsUnauthorized(err):
		return errors.Wrapf(err, "cannot %s %s: ask for the right to %s %s (examples/rbac has the roles)%s", verb, subject, verb, objectPronoun, alternative)
	}
	return errors.Wrapf(err, "cannot %s %s", verb, subject)
}
