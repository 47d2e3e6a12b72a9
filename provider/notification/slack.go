package notification

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// shortCommit is how many characters of a commit a message for people has.
const shortCommit = 7

// newSlackMessage returns the body for an incoming webhook of Slack.
func newSlackMessage(n *Notification, controlPlane string) ([]byte, error) {
	o, d := n.Outcome, n.Deployment
	text := fmt.Sprintf("%s *%s/%s* revision %d %s", iconForResult(o.Result), escapeSlack(d.Namespace), escapeSlack(d.Name), o.Revision, o.outcomeSentence())
	if o.Message != "" {
		text += "\n" + escapeSlack(o.Message)
	}
	footer := "control plane " + escapeSlack(controlPlane)
	if len(o.Commit) >= shortCommit {
		footer += ", commit " + escapeSlack(o.Commit[:shortCommit])
	}
	b, err := json.Marshal(map[string]string{"text": text + "\n_" + footer + "_"})
	return b, errors.Wrap(err, "cannot encode message")
}

// outcomeSentence says how the revision ended, after its number.
func (o Outcome) outcomeSentence() string {
	switch o.Result {
	case deploymentv1alpha1.OutcomeRolledBack:
		return "was rejected and rolled back"
	case deploymentv1alpha1.OutcomeFailed:
		return "was rejected and is not rolled back"
	case deploymentv1alpha1.OutcomeSucceeded:
	}
	return "was verified"
}

func iconForResult(result deploymentv1alpha1.Outcome) string {
	if result == deploymentv1alpha1.OutcomeSucceeded {
		return ":white_check_mark:"
	}
	if result == deploymentv1alpha1.OutcomeRolledBack {
		return ":leftwards_arrow_with_hook:"
	}
	return ":x:"
}

// escapeSlack keeps a text of a user from being a link or a mention, such as <!channel>.
func escapeSlack(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
