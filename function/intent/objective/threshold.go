package objective

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
)

// Threshold returns the threshold of a metric in canonical form, such as "<= 500ms" for "<=0.5 s". It returns an error for text that is not a
// threshold, and for a threshold whose comparison points to the bad side of a metric that plain language has a word for. The good side of
// other metrics is set by the Blueprint.
func Threshold(metric, text string) (string, error) {
	t, err := threshold.Parse(text)
	if err != nil {
		return "", err
	}
	for _, m := range listMeasurables(&QoS{}) {
		if m.name == metric && m.qos == nil {
			if _, err := t.Directed(m.goodDirection()); err != nil {
				return "", err
			}
		}
	}
	return t.String(), nil
}

// goodDirection returns the direction of the good side.
func (m measurable) goodDirection() catalogv1alpha1.Direction {
	if m.atMost {
		return catalogv1alpha1.DirectionAtMost
	}
	return catalogv1alpha1.DirectionAtLeast
}
