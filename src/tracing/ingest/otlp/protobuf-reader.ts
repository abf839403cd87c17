import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { InvalidTraces } from "./otlp-error.ts";

/**
 * Goes through protobuf messages field by field. Generated messages would make an object of each value of
 * each attribute, to be made into another one here, and drop what is malformed without a word. Stricter than the format asks for: a known field of another wire
 * type, and a value that reaches beyond its message, mean that the bytes are something else. Throws
 * InvalidTraces, and the errors of BinaryReader for bytes that are no protobuf.
 */
export class ProtobufReader {
  readonly #reader: BinaryReader;
  #end: number;
  #message = "";
  #field = 0;
  #wireType: WireType = WireType.Varint;

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes);
    this.#end = bytes.length;
  }

  /** The fields' numbers up to the end of the bytes; each has to be read, or skipped, at once. */
  *fields(message: string): Generator<number, void> {
    const end = this.#end;
    while (this.#reader.pos < end) {
      const [field, wireType] = this.#reader.tag();
      this.#message = message;
      this.#field = field;
      this.#wireType = wireType;
      yield field;
      if (this.#reader.pos > end) throw new InvalidTraces(`${message} ends within field ${field}`);
    }
  }

  /** The same of a message that is the value of a field. */
  *message(message: string): Generator<number, void> {
    this.#expect(WireType.LengthDelimited);
    const end = this.#reader.uint32() + this.#reader.pos;
    const outerEnd = this.#end;
    if (end > outerEnd) throw new InvalidTraces(`${message} is cut off`);
    this.#end = end;
    yield* this.fields(message);
    this.#end = outerEnd;
  }

  bytes(): Uint8Array {
    this.#expect(WireType.LengthDelimited);
    return this.#reader.bytes();
  }

  /** What is not UTF-8 becomes U+FFFD: it is no reason to lose a batch of spans. */
  text(): string {
    this.#expect(WireType.LengthDelimited);
    return this.#reader.string();
  }

  bool(): boolean {
    this.#expect(WireType.Varint);
    return this.#reader.bool();
  }

  uint32(): number {
    this.#expect(WireType.Varint);
    return this.#reader.uint32();
  }

  int64(): bigint {
    this.#expect(WireType.Varint);
    return BigInt(this.#reader.int64());
  }

  double(): number {
    this.#expect(WireType.Bit64);
    return this.#reader.double();
  }

  fixed64(): bigint {
    this.#expect(WireType.Bit64);
    return BigInt(this.#reader.fixed64());
  }

  skip(): void {
    this.#reader.skip(this.#wireType, this.#field);
  }

  #expect(wireType: WireType): void {
    if (this.#wireType === wireType) return;
    throw new InvalidTraces(
      `${this.#message} has field ${this.#field} with wire type ${this.#wireType}, not ${wireType}`,
    );
  }
}
