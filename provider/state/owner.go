package state

import (
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// OwnerPath is where the state says which cluster writes it.
const OwnerPath = "owner.json"

const (
	ownerVersion = 1
	// maxUID is how long a UID is at most, as the API has it.
	maxUID = 64
)

// owner is the file at OwnerPath.
type owner struct {
	Version    int    `json:"version"`
	ClusterUID string `json:"clusterUID"`
}

// EncodeOwner returns the content of the file that says which cluster writes the state. It returns an error if it cannot be written,
// which is a mistake in this package.
func EncodeOwner(clusterUID string) ([]byte, error) {
	b, err := json.Marshal(owner{Version: ownerVersion, ClusterUID: clusterUID})
	return append(b, '\n'), errors.Wrap(err, "cannot encode owner of state")
}

// DecodeOwner returns the cluster that writes the state. Any user who may push to the repository can write the file, so it returns an error
// about content that EncodeOwner would not have written.
func DecodeOwner(content []byte) (string, error) {
	o := owner{}
	if err := json.Unmarshal(content, &o); err != nil || o.Version != ownerVersion || o.ClusterUID == "" || len(o.ClusterUID) > maxUID {
		return "", errors.New("cannot decode owner of state: it is malformed")
	}
	return o.ClusterUID, nil
}
