package intent

import "github.com/intentplane/intentplane/apis/threshold"

// Threshold returns a threshold in canonical form, such as "<= 500ms" for "<=0.5 s". It returns an error for what is none.
func Threshold(text string) (string, error) {
	t, err := threshold.Parse(text)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}
