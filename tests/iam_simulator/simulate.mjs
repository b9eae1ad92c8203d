// Evaluate IAM requests: a JSON list of {principal, account, policy, action, resource} on stdin gives a JSON
// list of true (allowed) and false (denied) on stdout. A request or policy that is not valid ends the run
// with an error: a denial that came from a misspelt action would prove nothing.
import { text } from "node:stream/consumers";
import { runSimulation } from "@cloud-copilot/iam-simulate";

// No service control policy restricts: what is tested is the role's own policy.
const ALLOW_ALL = {
  orgIdentifier: "ou-test",
  policies: [
    { name: "all", policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] } },
  ],
};

async function isAllowed({ principal, account, policy, action, resource }) {
  // S3 tells every request whose bucket it is.
  const contextVariables = action.startsWith("s3:") ? { "s3:ResourceAccount": account } : {};
  const result = await runSimulation(
    {
      request: { principal, action, resource: { resource, accountId: account }, contextVariables },
      identityPolicies: [{ name: "role", policy }],
      serviceControlPolicies: [ALLOW_ALL],
      resourceControlPolicies: [],
    },
    {},
  );
  if (result.resultType === "error") throw new Error(`${action} on ${resource}: ${JSON.stringify(result.errors)}`);
  return result.overallResult === "Allowed";
}

const requests = JSON.parse(await text(process.stdin));
const answers = [];
for (const request of requests) answers.push(await isAllowed(request));
process.stdout.write(JSON.stringify(answers));
