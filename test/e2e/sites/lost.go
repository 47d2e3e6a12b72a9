package sites

import (
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/controlplane"
)

// recordedState returns the ledger of the claim in the repository, and the record of the applied position.
func (r *trial) recordedState() (ledger.State, state.RecordFile) {
	r.T.Helper()
	ref := rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Namespace: r.Namespace, Name: claim}
	read := func(path string) []byte {
		content, err := r.Git.Git(r.T.Context(), r.Namespace, "show", "refs/intentplane/test/state:"+path)
		r.Must(err)
		return []byte(content)
	}
	file, err := state.DecodeLedger(read(state.LedgerPath(ref)))
	r.Must(err)
	record, err := state.DecodeRecord(read(state.RecordPath(ref)))
	r.Must(err)
	return file.State, record
}

// loseManagementCluster loses all objects of the management cluster, and builds another one in its place from a person's files. Git, the
// Site's cluster with Flux in it and the measuring servers there continue.
func (r *trial) loseManagementCluster() {
	r.T.Helper()
	_, record := r.recordedState()
	began := time.Now()
	r.Must(cp.Rebuild(r.T.Context(), controlplane.Backup{}, nil))
	r.T.Logf("another cluster after %s", time.Since(began))
	r.Run("create", "namespace", r.Namespace)
	r.createKubeconfig()
	r.Apply(r.Set(r.ProviderConfig(), record.ClusterUID, "spec", "takeOverFrom"))
	r.Apply(r.Blueprint("1.0.0", "stable"))
	r.Apply(r.Set(r.describeFluxSite(), r.server.URL(), "spec", "metrics", "prometheus", "address"))
}

// filesChangedSince are the files of the branch that changed since a commit.
func (r *trial) filesChangedSince(commit string) []string {
	r.T.Helper()
	out, err := r.Git.Git(r.T.Context(), r.Namespace, "log", "--format=", "--name-only", commit+"..main")
	r.Must(err)
	return strings.Fields(out)
}
