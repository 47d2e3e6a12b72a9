package git

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
)

// Identity returns a digest that is equal only for remotes that are reached in the same way, with the same credentials: remotes
// with one identity may share what was read. It returns an error if the URL is refused, or the remote cannot be written down.
func (r Remote) Identity() (string, error) {
	u, err := policy.ParseRepositoryURL(r.URL)
	if err != nil {
		return "", err
	}
	// All of it counts, also what is added to a remote later.
	b, err := json.Marshal(r) //nolint:musttag // It is only digested.
	if err != nil {
		return "", errors.New("cannot compute the identity of the remote: its credentials cannot be encoded")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%T\x00%s", u.Key(), r.Auth, b))
	return hex.EncodeToString(sum[:]), nil
}

// Remote returns what the client speaks to.
func (c *Client) Remote() Remote { return c.remote }

// ServerKey is equal for clients that really reach the same server: by the same address, through the same proxy, and with trust in the
// same certificates or host keys. A URL alone says nothing of who answers.
func (c *Client) ServerKey() string { return c.conn.Key() }

// BranchKey returns the branch that the client writes to, equal for all spellings of its URL.
func (c *Client) BranchKey() string { return c.key + " " + c.remote.Branch }
