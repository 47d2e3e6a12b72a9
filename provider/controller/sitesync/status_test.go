package sitesync

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestAlike(t *testing.T) {
	is := func(change ...func(*decision)) decision {
		d := decision{next: before(positionOf(2, 0), v1alpha1.SiteLive), reason: v1alpha1.ReasonSyncing, message: "a"}
		for _, fn := range change {
			fn(&d)
		}
		return d
	}
	later := metav1.NewTime(noon().Add(time.Second))
	cases := map[string]struct {
		reason string
		other  decision
		want   bool
	}{
		"Same": {reason: "Nothing changed.", other: is(), want: true},
		"Times": {reason: "What is not shown yet has the time of the last look.", other: is(func(d *decision) {
			d.next.Sites[0].LiveSince, d.next.Sites[0].StartedAt, d.next.StartedAt = &later, &later, &later
		}), want: true},
		"State":   {reason: "A Site is in another state.", other: is(func(d *decision) { d.next.Sites[0].State = v1alpha1.SiteSyncing })},
		"Commit":  {reason: "A status with another commit is another state.", other: is(func(d *decision) { d.next.Sites[0].Commit = "c9" })},
		"Reason":  {reason: "All of them say something else.", other: is(func(d *decision) { d.reason = v1alpha1.ReasonWaiting })},
		"Message": {reason: "A status with another message is another state.", other: is(func(d *decision) { d.message = "b" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			one := is()
			if got := isSameState(one, tc.other); got != tc.want {
				t.Errorf("\n%s\nisSameState(...): want %t, got %t", tc.reason, tc.want, got)
			}
			if one.next.Sites[0].LiveSince == nil {
				t.Error("What is compared is not changed.")
			}
		})
	}
}
