package notification

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestNewSlackMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		result deploymentv1alpha1.Outcome
		change func(*Notification)
		want   string
	}{
		"Verified": {
			reason: "A success says which revision was verified.", result: deploymentv1alpha1.OutcomeSucceeded, change: func(n *Notification) { n.Message = "" },
			want: ":white_check_mark: *team-a/shop* revision 6 was verified\n_control plane fleet, commit 8d21c0e_",
		},
		"RolledBack": {
			reason: "A rollback has the message of the status.", result: deploymentv1alpha1.OutcomeRolledBack, change: func(*Notification) {},
			want: ":leftwards_arrow_with_hook: *team-a/shop* revision 6 was rejected and rolled back\nlatency_p99 is 812ms.\n_control plane fleet, commit 8d21c0e_",
		},
		"Mention": {
			reason: "A text of a user is neither a mention nor a link.", result: deploymentv1alpha1.OutcomeFailed,
			change: func(n *Notification) { n.Message, n.Commit = "<!channel> <https://evil.example.com|a & b>", "" },
			want: ":x: *team-a/shop* revision 6 was rejected and is not rolled back\n&lt;!channel&gt; &lt;https://evil.example.com|a &amp; " +
				"b&gt;\n_control plane fleet_",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := notificationOf(tc.result)
			tc.change(n)
			b, err := newSlackMessage(n, "fleet")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"text": tc.want}, got); diff != "" {
				t.Errorf("\n%s\nnewSlackMessage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
