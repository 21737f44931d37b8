package providertest_test

import (
	"testing"

	"github.com/elenchus-go/debate/providers/providertest"
)

func TestContract(t *testing.T) { providertest.Run(t, play) }
