// What the SDK for JavaScript signs and reads: prints, as JSON, who it is, and what became of a message.
"use strict";
const sqs = require("@aws-sdk/client-sqs");
const sts = require("@aws-sdk/client-sts");

const endpoint = process.env.AWS_ENDPOINT_URL;
const [name, body] = process.argv.slice(2);

async function trip(credentials) {
  const client = new sqs.SQSClient({ endpoint, credentials });
  const { QueueUrl } = await client.send(new sqs.CreateQueueCommand({ QueueName: name }));
  const MessageAttributes = { kind: { DataType: "Binary", BinaryValue: Buffer.from([0, 255, 10]) } };
  const sent = await client.send(new sqs.SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes }));
  const got = await client.send(new sqs.ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ["All"] }));
  const [message] = got.Messages;
  await client.send(new sqs.DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
  const { Arn } = await new sts.STSClient({ endpoint, credentials }).send(new sts.GetCallerIdentityCommand({}));
  const kind = Buffer.from(message.MessageAttributes.kind.BinaryValue).toString("hex");
  return { arn: Arn, same: sent.MessageId === message.MessageId, body: message.Body, kind };
}

async function refused(credentials) {
  try {
    await new sqs.SQSClient({ endpoint, credentials, maxAttempts: 1 }).send(new sqs.ListQueuesCommand({}));
    return null;
  } catch (error) {
    return [error.name, error.$metadata.httpStatusCode];
  }
}

async function main() {
  const { Credentials } = await new sts.STSClient({ endpoint }).send(new sts.GetSessionTokenCommand({}));
  const temporary = {
    accessKeyId: Credentials.AccessKeyId,
    secretAccessKey: Credentials.SecretAccessKey,
    sessionToken: Credentials.SessionToken,
  };
  console.log(
    JSON.stringify({
      permanent: await trip(undefined),
      temporary: await trip(temporary),
      expires: Credentials.Expiration.getTime() - Date.now() > 3000000,
      "wrong secret": await refused({ ...temporary, secretAccessKey: "another" }),
      "no token": await refused({ ...temporary, sessionToken: undefined }),
      "another token": await refused({ ...temporary, sessionToken: "AAAA" }),
    }),
  );
}

main();
