package cluster

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/intentplane/intentplane/bundles/state"
)

// Records returns a client for the records of bundles: of the namespace, or of all of them; or for the records of uds-cli instead, which are
// in a namespace of their own if options name none. It asks nothing yet.
func (o Options) Records(everywhere, uds bool) (*state.Client, error) {
	config, namespace, err := o.loadKubeconfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = o.Timeout
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the kubeconfig")
	}
	s := state.Options{}
	if uds {
		s = state.UDS()
	}
	if !uds || o.Overrides.Context.Namespace != "" {
		s.Namespace = namespace
	}
	if everywhere {
		s.Namespace = ""
	}
	return state.NewClient(kube, s)
}
