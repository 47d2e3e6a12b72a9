package clusters

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"

	"github.com/intentplane/intentplane/test/controlplane"
)

// A write is the API server's record of a change of an object of Cluster API.
type write struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

// isStatusOfCluster reports whether the status of a Cluster was written.
func (w write) isStatusOfCluster() bool {
	return w.Object.Resource == "clusters" && w.Object.Subresource == "status"
}

// isOfCluster reports whether a Cluster was written, and not its status.
func (w write) isOfCluster() bool {
	return w.Object.Group == "cluster.x-k8s.io" && w.Object.Resource == "clusters" && w.Object.Subresource == ""
}

const (
	provider = "system:serviceaccount:" + controlplane.Namespace + ":" + controlplane.ProviderServiceAccount
	core     = "system:serviceaccount:capi-system:capi-manager"
)

// writesOfUser returns the writes of a user in the stage's namespace, as the API server's audit log has them.
func (s *stage) writesOfUser(user string) []write {
	s.T.Helper()
	f, err := os.Open(s.AuditFile())
	s.Must(err)
	defer func() { _ = f.Close() }()
	var out []write
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		w := write{}
		if json.Unmarshal(lines.Bytes(), &w) != nil {
			continue // The last line may not be whole yet.
		}
		if w.User.Username == user && w.Object.Namespace == s.Namespace {
			out = append(out, w)
		}
	}
	s.Must(lines.Err())
	return out
}

// wantOnlyOurWrites fails the test if the provider wrote anything but Clusters, or the status of one. So many writes are to be there at least.
func (s *stage) wantOnlyOurWrites(minimum int) {
	s.T.Helper()
	all := s.writesOfUser(provider)
	for _, w := range all {
		if !w.isOfCluster() {
			s.T.Errorf("the provider did %+v", w)
		}
	}
	if len(all) < minimum {
		s.T.Errorf("the audit log has %d writes of the provider, and there were %d at least", len(all), minimum)
	}
}

// wantWritesOfCore checks that the audit log has core's writes to the status of Clusters.
func (s *stage) wantWritesOfCore() {
	s.T.Helper()
	if !slices.ContainsFunc(s.writesOfUser(core), write.isStatusOfCluster) {
		s.T.Error("the audit log does not even have core, which writes the status of a Cluster")
	}
}
