package transport

import (
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// init has go-git ask for multi_ack, which Azure DevOps demands (TF401041: "Clients must support multi-ack"), as Flux and Argo CD do. go-git leaves it out
// since it cannot negotiate in rounds. Each request of ours has one round: it ends with "done", and then a server with multi_ack sends an ACK for each common
// commit and one at the end, which go-git reads. Thin packs stay left out, since their deltas have bases that only the client has.
func init() { //nolint:gochecknoinits // go-git has one list for the process, which must not change while sessions read it.
	transport.UnsupportedCapabilities = []capability.Capability{capability.ThinPack}
}

// multiACKNote is the beginning of go-git's errors about an answer to a request with multi_ack, whatever the cause.
const multiACKNote = "multi_ack and multi_ack_detailed are not supported: "
