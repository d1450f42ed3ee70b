// What the vectors do not say.
#include "unit.h"

int main() {
  testArguments();
  testSchemaText();
  testValues();
  testBoxing();
  testNarrowIntegers();
  testReferences();
  testMoveOnly();
  testKernels();
  testSignatures();
  testLifetimes();
  testAnotherSignature();
  testLibraries();
  testTwiceFromOnePlace();
  testOverrideWarning();
  testListeners();
  testLateSignature();
  testHandles();
  testThreads();
  testObservers();
  testThrowing();
  testTrace();
  testChurn();
  testMacros();
  std::cout << checks << " checks\n";
  return failures == 0 ? 0 : 1;
}
