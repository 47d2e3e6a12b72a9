package git

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
)

// Identity returns a digest that is equal only for remotes that are reached in the same way, with the same credentials: remotes with the same identity may
// share a snapshot. It returns an error if the URL is refused, or the remote cannot be encoded.
func (r Remote) Identity() (string, error) {
	u, err := policy.ParseRepositoryURL(r.URL)
	if err != nil {
		return "", err
	}
	// All fields count, also fields that are added to Remote later.
	b, err := json.Marshal(r) //nolint:musttag // It is only digested.
	if err != nil {
		return "", errors.New("cannot compute the identity of the remote: its credentials cannot be encoded")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%T\x00%s", u.Key(), r.Auth, b))
	return hex.EncodeToString(sum[:]), nil
}

// Remote returns the remote of the client.
func (c *Client) Remote() Remote { return c.remote }

// ServerKey is equal for clients that really reach the same server: by the same address, through the same proxy, and with trust in the
// same certificates or host keys. A URL alone does not identify the server.
func (c *Client) ServerKey() string { return c.conn.Key() }

// BranchKey returns the branch that the client writes to, equal for all spellings of its URL.
func (c *Client) BranchKey() string { return c.key + " " + c.remote.Branch }
