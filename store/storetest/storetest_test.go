package storetest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// This test fails if a new field of store.Status is missing in fullStatus.
func TestAFullHeadHasEveryField(t *testing.T) {
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		require.False(t, v.IsZero(), "%s is empty", path)
		if v.Kind() != reflect.Struct || v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			check(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	check("status", reflect.ValueOf(fullStatus("d", 1)))
}
