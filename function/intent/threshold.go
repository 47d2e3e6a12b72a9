package intent

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
)

// Threshold returns the threshold of a metric in canonical form, such as "<= 500ms" for "<=0.5 s". It returns an error for what is none, and
// for one whose comparison points to the bad side of a metric that plain language has a word for. Of other metrics a Blueprint says which
// side is good.
func Threshold(metric, text string) (string, error) {
	t, err := threshold.Parse(text)
	if err != nil {
		return "", err
	}
	for _, m := range (&draft{}).measurables() {
		if m.name == metric && m.qos == nil {
			if _, err := t.Directed(m.direction()); err != nil {
				return "", err
			}
		}
	}
	return t.String(), nil
}

// direction of the good side.
func (m measurable) direction() catalogv1alpha1.Direction {
	if m.atMost {
		return catalogv1alpha1.DirectionAtMost
	}
	return catalogv1alpha1.DirectionAtLeast
}
